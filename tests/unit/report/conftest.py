"""A small study, written by hand, and a hostile one in which every name is an attack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ragablate.bundle.read import Bundle
from ragablate.codec import encode, plain
from ragablate.prompts import context_digest
from ragablate.proofs import Proof
from ragablate.records import (
    Agreement,
    Analysis,
    AnalysisResult,
    Change,
    Comparison,
    Conclusion,
    Context,
    ContextPassage,
    Contrast,
    Effect,
    Evicted,
    GateDecision,
    Gold,
    GoldPassage,
    Hit,
    Interval,
    Prompt,
    ResolvedAlternative,
    ResolvedGold,
    Segment,
    Share,
    Signal,
    Term,
    Turn,
    Verdict,
)
from ragablate.traces import ContextLine, QuestionLine, Retrieved, TraceLine


@dataclass(frozen=True)
class Words:
    """The free text of a study, which users, corpora and models choose."""

    data: str = "toy"
    level: str = "dense"
    question: str = "Would another retriever give better answers?"
    sentence: str = "On 8 answerable questions, replacing bm25 by dense changed correct by +0.25."
    attribution: str = "Somebody (2020), CC BY 4.0"
    qid: str = "q1"
    slice: str = "type=bridge"
    measure_label: str = "right answers"
    proof: str = "8/8 prompt frames byte-identical"
    note: str = "8 answerable questions: a pilot, whatever it shows."


def effect(contrast: str, treatment: str, **fields: object) -> Effect:
    """A detected rise of the primary measure, unless said otherwise."""
    usual = Effect(
        id=f"{contrast}:correct:answerable",
        contrast=contrast,
        arms=("control", treatment),
        measure="correct",
        population="answerable",
        role="primary",
        n=160,
        unmeasured=0,
        clusters=None,
        replicates=1,
        control_mean=0.5,
        treatment_mean=0.75,
        effect=0.25,
        better=45,
        worse=5,
        same=110,
        ci95=Interval(0.17, 0.33, 0.95, "tango"),
        ci90=Interval(0.18, 0.32, 0.90, "tango"),
        p=0.00001,
        p_adjusted=0.00002,
        margin=0.05,
        state="up",
        detail="",
        needed_n=None,
        detectable=None,
    )
    return replace(usual, **fields)  # type: ignore[arg-type]


def refused(contrast: str, treatment: str, **fields: object) -> Effect:
    """An effect without a number."""
    return effect(
        contrast,
        treatment,
        **{
            "n": 0,
            "control_mean": None,
            "treatment_mean": None,
            "effect": None,
            "better": 0,
            "worse": 0,
            "same": 0,
            "ci95": None,
            "ci90": None,
            "p": None,
            "p_adjusted": None,
            "state": "refused",
            **fields,
        },
    )


def _contrasts(words: Words) -> tuple[Contrast, ...]:
    swap = Contrast(
        id=f"swap_retriever/{words.level}",
        experiment="swap_retriever",
        question=words.question,
        kind="upstream",
        variable="retriever",
        level=words.level,
        control="control",
        treatment=f"retriever={words.level}",
        measure="correct",
        margin=0.05,
        control_level="bm25",
    )
    placebo = Contrast(
        id="placebo/placebo",
        experiment="placebo",
        question="How much does nothing but asking again change?",
        kind="placebo",
        variable="",
        level="placebo",
        control="control",
        treatment="placebo",
        measure="correct",
        margin=0.05,
    )
    return swap, placebo


def _plan(words: Words) -> dict[str, object]:
    swap, placebo = _contrasts(words)
    change = Change("retriever.index", "/home/somebody/old.idx", f"/home/somebody/{words.level}")
    names = (("control", "", ()), (swap.treatment, "retriever", (change,)), ("placebo", "", ()))
    plan = {
        "ragablate": "0.1.0",
        "started": "2026-11-30T22:32:26.638+00:00",
        "git": {"commit": "0" * 40, "changed": True},
        "looks": 3,
        "command": ["ragablate", "run", "outputs=/tmp/x", "quiet=true", f"retriever={words.level}"],
        "plan_digest": "ab" * 32,
        "seed": 0,
        "replicates": 1,
        "alpha": 0.05,
        "level": 0.05,
        "correction": "holm",
        "sequential": {"rule": None, "looks": 5, "planned_n": None},
        "confirmation": {"share": 0.0, "open": False},
        "power": 0.8,
        "top_k": 10,
        "reader": "extractive (24443021)",
        "decision_rule": "Up when p <= 0.05.",
        "dataset": {"name": words.data, "digest": "cd" * 32, "attribution": words.attribution},
        "contrasts": [swap, placebo],
        "analyses": [],
        "arms": [
            {
                "name": name,
                "runs": "bm25",
                "variable": variable,
                "changes": changes,
                "corpus": {"digest": "ef" * 32, "passages": 12},
            }
            for name, variable, changes in names
        ],
        "measures": [
            {"name": "correct", "stage": "read", "label": words.measure_label},
            {"name": "ndcg@10", "stage": "retrieve", "label": "nDCG at 10"},
        ],
        "config": {
            "dataset": {"_target_": "ragablate.dataset.jsonl.Jsonl"},
            "retriever": {"_target_": "ragablate.retrieve.bm25.BM25"},
            "reranker": {"_target_": "ragablate.rerank.none.NoReranker"},
            "assembler": {"_target_": "ragablate.assemble.ranked.Ranked"},
            "context": {"_target_": "ragablate.intervene.actual.Actual"},
            "reader": {"_target_": "ragablate.read.extractive.Extractive"},
            "outputs": "/tmp/x",
        },
    }
    return dict(plain(plan))


def _question(qid: str, gap: bool) -> QuestionLine:
    return QuestionLine(qid, "?", "0", "0", Gold(qid), ResolvedGold(qid), gap, qid, {})


class ToyBundle(Bundle):
    """A bundle whose proofs are given instead of made from traces."""

    proofs: dict[str, tuple[Proof, ...]] = {}  # type: ignore[assignment]  # noqa: RUF012


def _trace(arm: str, qid: str, replicate: int = 1) -> TraceLine:
    return TraceLine(arm, qid, replicate, "?", (), (), "a", prompt_digest=qid, prompt_version="r")


def _bundle(words: Words, folder: Path) -> Bundle:
    swap, placebo = _contrasts(words)
    bundle = ToyBundle(
        folder,
        _plan(words),
        {"q0": _question("q0", False), words.qid: _question(words.qid, True)},
        {},
        {
            "control": (_trace("control", "q0"), _trace("control", words.qid)),
            swap.treatment: (_trace(swap.treatment, "q0"),),
            "placebo": (_trace("placebo", "q0", 2),),
        },
        {},
    )
    object.__setattr__(
        bundle,
        "proofs",
        {
            swap.id: (
                Proof("INV-5", "pass", "", words.proof),
                Proof("INV-7", "warn", "warn", f"1 error in {swap.treatment}"),
                Proof("INV-12", "pass", "", "the treatment changed 7 of 8 contexts"),
            ),
            placebo.id: (Proof("INV-2", "pass", "", "8/8 contexts byte-identical"),),
        },
    )
    return bundle


def _signals(arms: tuple[str, ...]) -> tuple[Signal, ...]:
    def signal(arm: str, measure: str, population: str, mean: float | None, n: int) -> Signal:
        size = 160 if population == "answerable" else 40
        interval = None if mean is None else Interval(mean - 0.1, mean + 0.1, 0.95, "wilson")
        return Signal(arm, measure, population, mean, n, size - n, interval)

    rows: list[Signal] = []
    for arm in arms:
        rows += [
            signal(arm, "evidence_retrieved", "answerable", 0.88, 160),
            signal(arm, "evidence_retrieved", "unanswerable", None, 0),
            signal(arm, "evidence_in_context", "answerable", 0.74, 160),
            signal(arm, "faithfulness", "answerable", 0.98, 152),
            signal(arm, "abstained", "answerable", 0.05, 160),
            signal(arm, "abstained", "unanswerable", 0.7, 40),
            signal(arm, "correct", "answerable", 0.5, 160),
            signal(arm, "correct", "unanswerable", 0.7, 40),
        ]
    return tuple(rows)


def _comparison(words: Words) -> Comparison:
    swap, placebo = _contrasts(words)
    arm = swap.treatment
    name = words.slice.partition("=")[0]
    effects = (
        effect(swap.id, arm),
        effect(
            placebo.id,
            "placebo",
            effect=0.0,
            treatment_mean=0.5,
            better=0,
            worse=0,
            same=160,
            ci95=Interval(-0.02, 0.02, 0.95, "tango"),
            p=1.0,
            p_adjusted=1.0,
            state="flat",
        ),
        effect(swap.id, arm, population="unanswerable", role="cell", n=40, id="u"),
        refused(swap.id, arm, measure="cites_gold", role="signal", id="c"),
        effect(
            placebo.id, "placebo", measure="ndcg@10", role="control", better=0, worse=0, id="n"
        ),
        effect(swap.id, arm, population=words.slice, role="slice", n=85, id="s1"),
        effect(swap.id, arm, population=f"{name}=z", role="slice", n=75, id="s2"),
        effect(
            swap.id, arm, population="hops=1", role="slice", n=60, p_adjusted=1.0, id="s3"
        ),
    )  # fmt: skip
    conclusions = (
        Conclusion(
            contrast=swap.id,
            verdict="retriever improves answers",
            label="causal with limits",
            sentences=(words.sentence, "A reading.", f"Exploratory: differs by {words.slice}."),
            limits=(f"1 error in {arm}",),
            settle="about 300 answerable questions to decide correct",
            owner="retrieval: depth",
            effects=(effects[0].id, "s1", "s2"),
        ),
        Conclusion(
            contrast=placebo.id,
            verdict="reader is deterministic",
            label="causal",
            sentences=("Asked again with nothing changed, 0 of 160 questions moved.",),
            limits=(),
            settle="",
            owner="",
            effects=(effects[1].id,),
        ),
    )
    return Comparison(effects, conclusions, _signals(("control", arm)), (words.note,))


Study = tuple[Bundle, Comparison]


@pytest.fixture(scope="session")
def make_study() -> Callable[..., Study]:
    """A study with other words, at another place."""

    def make(folder: Path = Path("/somewhere/outputs/toy/x"), **words: str) -> Study:
        chosen = Words(**words)
        return _bundle(chosen, folder), _comparison(chosen)

    return make


@pytest.fixture(scope="session")
def study(make_study: Callable[..., Study]) -> Study:
    """The small study."""
    return make_study()


LADDER = Analysis(
    id="localize",
    question="Which stage loses the answers?",
    kind="ladder",
    arms={"B": "control", "D": "context=with_gold", "O": "context=oracle"},
    measure="correct",
    margin=0.05,
)


def _term(name: str, value: float, state: str = "up") -> Term:
    interval = Interval(value - 0.05, value + 0.05, 0.95, "tango")
    return Term(name, value, 160, 20, 4, interval, 0.001, 0.002, state)  # type: ignore[arg-type]


def with_ladder(study: Study, name: str = "localize", refused: bool = False) -> Study:
    """A study that has a ladder too."""
    bundle, comparison = study
    analysis = replace(LADDER, id=name)
    result = AnalysisResult(
        id=name,
        kind="ladder",
        order="ladder B>D>O",
        population="answerable",
        total=0.5,
        terms=(
            replace(_term("retrieval", 0.3), reasons={"not_in_candidates": 0.2, "cut": 0.1}),
            _term("reader", 0.2, "unclear"),
        ),
        cells={"B": 0.5, "O": 0.8},
        strata={"retrieval-dependent": (_term("retrieval", 0.4),)},
        agreement=(Agreement("retrieval", "D", 30),),
        shares=(Share("PS", 12, 40, 0.01), Share("PN", 3, 80, None)),
    )
    conclusion = Conclusion(
        name, "retrieval loses most", "causal", ("Retrieval loses 0.30.",), (), "", "", ()
    )
    plan = {**bundle.plan, "analyses": [plain(analysis)]}
    other = type(bundle)(
        bundle.folder, plan, bundle.questions, bundle.contexts, bundle.traces, bundle.verdicts
    )
    proof = Proof("INV-5", "pass", "", "B to D: 160/160 prompt frames byte-identical")
    object.__setattr__(other, "proofs", {**bundle.proofs, name: (proof,)})
    return other, replace(
        comparison,
        conclusions=(*comparison.conclusions, conclusion),
        analyses=() if refused else (result,),
    )


@pytest.fixture(scope="session")
def add_ladder() -> Callable[..., Study]:
    """Adds a ladder to a study."""
    return with_ladder


# ── single questions, for the page ──────────────────────────────────────────────────────


def _spoken(arm: str, qid: str, text: str, digest: str, prompt: str) -> TraceLine:
    return TraceLine(
        arm=arm,
        qid=qid,
        replicate=1,
        question=text,
        retrieved=(Retrieved("p1", 2.0, 1), Retrieved("p2", 1.0, 2)),
        prompt_pids=("p1",),
        answer=f"{text} [1]",
        history=(Turn("user", text),),
        searches=(text,),
        candidates=(Hit("p1", 3.0), Hit("p2", 2.0), Hit("p3", 1.0)),
        gate=GateDecision("go", text),
        evicted=(Evicted("p2", "budget_cut"),),
        context_digest=digest,
        prompt_digest=prompt,
        cited=("p1",),
        gold_pids=("p1", "p3"),
        gold_parts=(("p1",), ("p3",)),
        latency_s=1.25,
        timestamp="2026-11-30T22:32:26.638+00:00",
    )


def with_questions(study: Study, text: str, folder: Path) -> Study:
    """A study whose every question, passage, prompt, answer and reason is ``text``."""
    bundle, comparison = study
    shown = ContextPassage("p1", f"head\n{text}", text, tokens=3)
    digest = context_digest(Context((shown,)))
    gold = GoldPassage(ContextPassage("p3", text, text), (text,))
    parts = (
        (ResolvedAlternative((GoldPassage(shown, (text,)),)),),
        (ResolvedAlternative((gold,)),),
    )
    questions = {
        qid: QuestionLine(
            qid, text, "0", "0", Gold(qid, (), (text,)), ResolvedGold(qid, parts), False, qid,
            {"type": text},
        )
        for qid in bundle.questions
    }  # fmt: skip
    traces = {
        arm: tuple(_spoken(arm, qid, text, digest, "f" * 64) for qid in questions)
        for arm in bundle.arms
    }
    verdicts = {
        arm: tuple(Verdict(qid, 1, "correct", 1.0, text) for qid in questions)
        for arm in bundle.arms
    }
    folder.mkdir(parents=True, exist_ok=True)
    segments = (Segment("system", f"frame {text}"), Segment("user", f"[1] {text}\n", "p1"))
    prompt = Prompt("q0", text, segments)
    row = {"digest": "f" * 64, **dict(plain(prompt))}
    (folder / "prompts.jsonl").write_bytes(encode(row) + b"\n")
    contexts = {digest: ContextLine(digest, (shown,))}
    other = type(bundle)(folder, bundle.plan, questions, contexts, traces, verdicts)
    object.__setattr__(other, "proofs", bundle.proofs)
    return other, comparison


@pytest.fixture(scope="session")
def add_questions() -> Callable[..., Study]:
    """Fills a study with questions."""
    return with_questions
