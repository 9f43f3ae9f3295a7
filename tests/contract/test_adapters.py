"""Every YAML of every group keeps the rules of its seam."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import checks
import needs
import pytest
from hydra.utils import instantiate
from tests_support import write_dataset

from ragablate import protocols as p
from ragablate.adapters import PROTOCOLS, Workshop, fingerprint
from ragablate.config import compose_plain
from ragablate.dataset.digests import corpus_digest
from ragablate.dataset.jsonl import Jsonl
from ragablate.gold import resolve
from ragablate.records import Answer, Corpus, Dataset, Document, Hit, Item, ReadRequest, Trace, Turn

pytestmark = pytest.mark.usefixtures("hydra")
Make = Callable[[], Any]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return Jsonl(str(write_dataset(tmp_path_factory.mktemp("toy")))).load()


@pytest.fixture(scope="module")
def corpus(data: Dataset) -> Corpus:
    return Corpus(data.passages, corpus_digest(data.passages))


def node_of(group: str, option: str, folder: Path) -> dict[str, Any]:
    (node,) = nodes_of([(group, option)], folder)
    return node


def nodes_of(choices: Sequence[tuple[str, str]], folder: Path) -> list[dict[str, Any]]:
    """The configs of one option in each of some groups, from one composition."""
    write_dataset(folder)
    lines: list[str] = []
    for group, option in choices:
        lines.append(f"{group}=[{option}]" if group == "judge" else f"{group}={option}")
        lines += needs.overrides(group, option, folder)
    # The rest of control is chosen so that nothing else is missing.
    values = compose_plain(lines).values
    return [
        next(iter(values[group].values())) if group == "judge" else values[group]
        for group, _ in choices
    ]


def maker(group: str, option: str, folder: Path) -> Make:
    node = node_of(group, option, folder)
    instance = instantiate(node, _convert_="all")
    nested = (getattr(instance, name, None) for name in ("support", "endpoint"))
    problems = [p for one in (instance, *nested) for p in getattr(one, "problems", list)()]
    if any("not installed" in problem or "pip install" in problem for problem in problems):
        # Where every extra is installed nothing may say that one is missing.
        assert "RAGABLATE_ALL_EXTRAS" not in os.environ, problems
        pytest.skip(problems[0])
    assert problems == []
    return lambda: instantiate(node, _convert_="all")


@pytest.fixture(autouse=True)
def _functions_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.mark.parametrize(("group", "option"), needs.every())
def test_it_is_built_from_its_yaml_and_fits_its_protocol(
    group: str, option: str, tmp_path: Path
) -> None:
    workshop = Workshop()
    node = node_of(group, option, tmp_path)
    protocol = p.Judge if group == "judge" else PROTOCOLS[group]
    built = workshop.adapter(group, node, protocol)
    assert built is not None, workshop.problems
    instance, own = built
    arguments = {k: v for k, v in node.items() if k != "_target_" and not _is_adapter(v)}
    checks.constructor_only_stores(instance, arguments)
    assert own == fingerprint(node, instantiate(node, _convert_="all"))


def _is_adapter(value: Any) -> bool:
    return isinstance(value, dict) and (
        "_target_" in value or any(_is_adapter(v) for v in value.values())
    )


@pytest.mark.parametrize(("group", "option"), needs.every())
def test_every_knob_of_the_constructor_is_in_its_yaml(
    group: str, option: str, tmp_path: Path
) -> None:
    node = node_of(group, option, tmp_path)
    instance = instantiate(node, _convert_="all")
    knobs = set(inspect.signature(type(instance)).parameters)
    assert knobs <= set(node), f"{group}/{option}.yaml lacks {sorted(knobs - set(node))}"


def rankings(corpus: Corpus, data: Dataset) -> list[tuple[Hit, ...]]:
    pids = [x.pid for x in corpus.passages]
    return [
        tuple(Hit(pid, 1.0 / (i + 1)) for i, pid in enumerate(pids[n : n + 6]))
        for n, _ in enumerate(data.questions)
    ]


def requests_for(group: str, corpus: Corpus, data: Dataset) -> list[Any]:
    ranked = rankings(corpus, data)
    questions = data.questions
    if group == "rewriter":
        first = [p.RewriteRequest(q.qid, q) for q in questions]
        found = tuple(corpus.by_pid[hit.pid] for hit in ranked[0])
        talk = replace(questions[0], history=(Turn("user", "Tell me of the Mirr."),))
        return [
            *first,
            p.RewriteRequest("again", questions[0], ranked[0], 1, passages=found),
            p.RewriteRequest("talk", talk),
        ]
    if group == "retriever":
        return [p.SearchRequest(f"{q.qid}#0", q.text, q) for q in questions]
    if group == "reranker":
        return [p.RerankRequest(q.qid, q, r) for q, r in zip(questions, ranked, strict=True)]
    if group == "gate":
        return [p.GateRequest(q.qid, q, r, r) for q, r in zip(questions, ranked, strict=True)]
    return [p.AssembleRequest(q.qid, q, r) for q, r in zip(questions, ranked, strict=True)]


METHODS = {
    "rewriter": "rewrite",
    "retriever": "retrieve",
    "reranker": "rerank",
    "gate": "decide",
    "assembler": "assemble",
}


def caller(group: str, corpus: Corpus) -> checks.Call:
    def call(adapter: Any, requests: Sequence[Any]) -> Iterator[Item[Any]]:
        method = getattr(adapter, METHODS[group])
        return method(requests) if group == "rewriter" else method(corpus, requests)  # type: ignore[no-any-return]

    return call


BATCHED = [(g, o) for g, o in needs.every() if g in METHODS]
RULES = [
    checks.answers_each_once,
    checks.is_deterministic,
    checks.ignores_order_and_company,
    checks.takes_an_empty_batch,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize(("group", "option"), BATCHED)
def test_stages_before_the_reader_keep_the_rules_of_a_batch(
    group: str, option: str, rule: Any, tmp_path: Path, corpus: Corpus, data: Dataset
) -> None:
    rule(maker(group, option, tmp_path), caller(group, corpus), requests_for(group, corpus, data))


@pytest.mark.parametrize(
    ("group", "option"), [(g, o) for g, o in BATCHED if g in ("retriever", "reranker")]
)
def test_rankings_are_sorted_with_ties_by_pid(
    group: str, option: str, tmp_path: Path, corpus: Corpus, data: Dataset
) -> None:
    make = maker(group, option, tmp_path)
    items = list(caller(group, corpus)(make(), requests_for(group, corpus, data)))
    checks.rankings_are_well_formed(items, corpus)


@pytest.mark.parametrize(("group", "option"), [(g, o) for g, o in BATCHED if g != "rewriter"])
def test_an_empty_ranking_and_a_tiny_corpus_are_valid_input(
    group: str, option: str, tmp_path: Path, data: Dataset
) -> None:
    one = Corpus(data.passages[:4], corpus_digest(data.passages[:4]))
    q = data.questions[0]
    empty = {
        "retriever": p.SearchRequest("x", "", q),
        "reranker": p.RerankRequest("x", q, ()),
        "gate": p.GateRequest("x", q, (), ()),
        "assembler": p.AssembleRequest("x", q, ()),
    }[group]
    items = list(caller(group, one)(maker(group, option, tmp_path)(), [empty]))
    assert [i.id for i in items] == ["x"]


@pytest.mark.parametrize("option", needs.options("chunker"))
def test_chunkers_keep_exact_offsets(option: str, tmp_path: Path) -> None:
    text = "Die Brücke 🌉 wurde 1931 eröffnet.\r\nSie quert die Mirr. 桥梁很长。"
    documents = [Document("d1", text, "Brücke"), Document("d2", "x")]
    passages = list(maker("chunker", option, tmp_path)().chunk(documents))
    texts = {d.doc_id: d.text for d in documents}
    assert {x.doc_id for x in passages} == {"d1", "d2"}
    assert all(texts[x.doc_id][x.start : x.start + len(x.text)] == x.text for x in passages)
    assert len({x.pid for x in passages}) == len(passages)


def intervene_requests(make_assembler: Make, corpus: Corpus, data: Dataset) -> list[Any]:
    assembler = make_assembler()
    ranked = rankings(corpus, data)
    asked = [p.AssembleRequest(q.qid, q, r) for q, r in zip(data.questions, ranked, strict=True)]
    contexts = {i.id: i.value for i in assembler.assemble(corpus, asked)}
    shifted = [replace(a, retrieved=a.retrieved[3:] + a.retrieved[:3]) for a in asked]
    others = {i.id: i.value for i in make_assembler().assemble(corpus, shifted)}
    gold = {q.qid: resolve(data.gold[q.qid], corpus, {}, assembler.render) for q in data.questions}
    return [
        p.InterveneRequest(a.id, a.question, contexts[a.id], a.retrieved, gold[a.id], others[a.id])
        for a in asked
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("option", needs.options("context"))
def test_interventions_keep_the_rules_of_a_batch(
    option: str, rule: Any, tmp_path: Path, corpus: Corpus, data: Dataset
) -> None:
    requests = intervene_requests(maker("assembler", "ranked", tmp_path), corpus, data)
    rule(maker("context", option, tmp_path), lambda a, r: a.intervene(r), requests)


@pytest.mark.parametrize("option", needs.options("context"))
def test_contexts_are_well_formed_after_an_intervention(
    option: str, tmp_path: Path, corpus: Corpus, data: Dataset
) -> None:
    requests = intervene_requests(maker("assembler", "ranked", tmp_path), corpus, data)
    checks.contexts_are_well_formed(list(maker("context", option, tmp_path)().intervene(requests)))


def read_requests(make: Make, assembler: Make, corpus: Corpus, data: Dataset) -> list[ReadRequest]:
    reader = make()
    requests = intervene_requests(assembler, corpus, data)
    return [
        ReadRequest(f"r{n}", reader.prompt(r.question, r.context), 1, 17 + n)
        for n, r in enumerate(requests)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("option", needs.options("reader"))
def test_readers_keep_the_rules_of_a_batch(
    option: str, rule: Any, tmp_path: Path, corpus: Corpus, data: Dataset
) -> None:
    make = maker("reader", option, tmp_path)
    made: list[Any] = []

    def remembered() -> Any:
        made.append(make())
        return made[-1]

    requests = read_requests(make, maker("assembler", "ranked", tmp_path), corpus, data)
    requests = requests[: needs.BATCHES.get(option)]
    try:
        rule(remembered, lambda a, r: map(_timeless, a.read(r)), requests)
    finally:
        for reader in made:
            getattr(reader, "close", lambda: None)()


def _timeless(item: Item[Answer]) -> Item[Answer]:
    if item.value is None:
        return item
    answer = item.value
    return Item(item.id, Answer(answer.text, answer.abstained, answer.finish_reason, answer.model))


@pytest.mark.parametrize("option", needs.options("reader"))
def test_a_prompt_is_pure_and_its_frame_does_not_depend_on_the_evidence(
    option: str, tmp_path: Path, corpus: Corpus, data: Dataset
) -> None:
    from ragablate.prompts import frame_digest
    from ragablate.records import Context

    make = maker("reader", option, tmp_path)
    for r in intervene_requests(maker("assembler", "ranked", tmp_path), corpus, data):
        prompt = make().prompt(r.question, r.context)
        assert prompt == make().prompt(r.question, r.context)
        empty = make().prompt(r.question, Context())
        assert frame_digest(prompt) == frame_digest(empty)
        shown = [s.pid for s in prompt.segments if s.pid]
        assert list(dict.fromkeys(shown)) == [x.pid for x in r.context.passages]


@pytest.mark.parametrize("option", needs.options("judge"))
def test_judges_give_every_verdict_and_do_not_see_the_arm(
    option: str, tmp_path: Path, corpus: Corpus, data: Dataset
) -> None:
    make = maker("judge", option, tmp_path)
    requests = []
    for r in intervene_requests(maker("assembler", "ranked", tmp_path), corpus, data):
        trace = Trace(
            "", r.question.qid, 1, r.question.text, (), (r.question.text,), r.retrieved,
            r.retrieved, None, r.context, "c", "f", "p", Answer("Ada Lind [1]. In 1931."), None,
        )  # fmt: skip
        requests.append(p.JudgeRequest(r.id, trace, data.gold[r.id], r.gold))
    checks.verdicts_are_complete(make(), requests)
    for rule in RULES:
        rule(make, lambda a, r: a.judge(r), requests)


@pytest.mark.parametrize("option", needs.options("dataset"))
def test_datasets_load_with_gold_for_every_question(option: str, tmp_path: Path) -> None:
    dataset = maker("dataset", option, tmp_path)().load()
    assert [q.qid for q in dataset.questions] == list(dataset.gold)
    assert dataset.passages or dataset.documents


BUILD_EVERYTHING = """
import sys
from pathlib import Path
import needs
from hydra.utils import instantiate
from test_adapters import nodes_of
from ragablate.adapters import fingerprint
from ragablate.config import composing
with composing():
    for choices in needs.together():
        for node in nodes_of(choices, Path(sys.argv[1])):
            instance = instantiate(node, _convert_="all")
            getattr(instance, "problems", list)()
            fingerprint(node, instance)
heavy = {"torch", "transformers", "sentence_transformers", "xllamacpp"} & set(sys.modules)
assert not heavy, heavy
"""


def test_no_model_library_is_imported_by_checking_everything(tmp_path: Path) -> None:
    # A process of its own: other tests of this one may have loaded models.
    found = subprocess.run(
        [sys.executable, "-c", BUILD_EVERYTHING, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
