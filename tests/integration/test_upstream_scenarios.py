"""Failures of the field and their fixes before the retriever, on real text, through the runner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from scenarios import CONF, CORPUS, PAIRED, SINGLE, Row, fixed_by, written
from upstream_fixes import TRANSCRIPT

pytestmark = pytest.mark.usefixtures("hydra")


def buried() -> tuple[list[Row], list[Row]]:
    """Documents of fifteen passages each, and questions that one sentence in them answers."""
    documents: list[Row] = []
    place: dict[str, tuple[str, int]] = {}
    for number, row in enumerate(CORPUS.values()):
        if number % 15 == 0:
            documents.append({"id": f"doc{number // 15}", "text": ""})
        text = documents[-1]["text"]
        place[row["id"]] = (documents[-1]["id"], len(text))
        documents[-1]["text"] += f"## {row.get('title', '')}\n\n{row['text']}\n\n"
    questions = []
    for row in SINGLE:
        document, at = place[row["gold_ids"][0]]
        at += len(f"## {CORPUS[row['gold_ids'][0]].get('title', '')}\n\n")
        spans = [
            {"doc_id": document, "start": at + start, "end": at + start + len(answer)}
            for start, answer in zip(row["answer_start"], row["answers"], strict=True)
        ]
        questions.append(
            {"id": row["id"], "question": row["question"], "answers": row["answers"],
             "gold": [spans]}
        )  # fmt: skip
    return documents, questions


def test_f2_an_answer_buried_in_a_long_document_is_found_by_smaller_passages(
    tmp_path: Path,
) -> None:
    data = written(tmp_path / "buried", *buried())
    effects = fixed_by(data, "chunker", "[fixed,sentence,section,parent]", "dataset.unit=documents")
    assert set(effects) == {"fixed", "sentence", "section", "parent"}
    for level, effect in effects.items():
        assert effect.control_mean is not None
        assert effect.control_mean < 0.4
        assert (effect.state, effect.unmeasured) == ("up", 0), level
        assert effect.worse < effect.better / 4


def test_f2_a_sentence_that_does_not_name_its_subject_is_found_behind_its_context(
    tmp_path: Path,
) -> None:
    documents = [{"id": k, "title": r["title"], "text": r["text"]}
                 for k, r in CORPUS.items() if k.startswith("hp")]  # fmt: skip
    questions = [
        {"id": r["id"], "question": r["question"], "answers": r["answers"],
         "gold": [[{"doc_id": e["doc_id"], "quotes": [e["sentence"]]}] for e in r["evidence"]]}
        for r in PAIRED
    ]  # fmt: skip
    data = written(tmp_path / "unnamed", documents, questions)
    effects = fixed_by(
        data,
        "chunker",
        "[one_sentence_in_context]",
        "dataset.unit=documents",
        CONF,
        "chunker=one_sentence",
        "retriever.fields=[text]",
        measure="evidence_in_context_partial",
    )
    assert effects["one_sentence_in_context"].state == "up"


def follow_ups() -> list[Row]:
    """Questions that only their conversation tells the subject of."""
    chosen = [row for row in CORPUS.values() if row["id"].startswith("hp")][::40]
    return [
        {"id": f"c{number}", "question": "What is known about it?", "answers": [row["text"][:40]],
         "gold_ids": [row["id"]],
         "history": [
             {"speaker": "user", "text": f"I am reading about {row['title']}."},
             {"speaker": "agent", "text": "What would you like to know?"},
         ]}
        for number, row in enumerate(chosen)
    ]  # fmt: skip


def test_f3_follow_ups_fail_alone_and_are_found_with_their_conversation(tmp_path: Path) -> None:
    data = written(tmp_path / "talks", CORPUS.values(), follow_ups())
    chosen = ["rewriter=standalone", "reader@rewriter.reader=function",
              'rewriter.reader.function="upstream_fixes:resolve_it"']  # fmt: skip
    effects = fixed_by(data, "rewriter", f"[last_turn_concat,{{standalone: {chosen}}}]")
    for effect in effects.values():
        assert effect.control_mean == 0.0
        assert effect.state == "up"
        assert effect.treatment_mean is not None
        assert effect.treatment_mean > 0.8


def tables() -> tuple[list[Row], list[Row]]:
    """Pages whose table an extraction tore apart, each with a transcript of the same page."""
    documents, questions = [], []
    for row in SINGLE[:40]:
        passage = CORPUS[row["gold_ids"][0]]
        words = passage["text"].split()
        # Columns read across each other and letters set apart: what OCR leaves of a table.
        columns = [words[place::3] for place in range(3)]
        torn = " ".join(" ".join(" ".join(word) for word in column) for column in columns)
        answer, start = row["answers"][0], row["answer_start"][0]
        text = torn + TRANSCRIPT + passage["text"]
        at = len(torn + TRANSCRIPT) + start
        spans = [{"doc_id": row["id"], "start": at, "end": at + len(answer)},
                 {"doc_id": row["id"], "start": 0, "end": len(torn)}]  # fmt: skip
        documents.append({"id": row["id"], "text": text})
        questions.append({"id": row["id"], "question": row["question"], "answers": row["answers"],
                          "gold": [spans]})  # fmt: skip
    return documents, questions


def test_f6_a_torn_table_is_not_found_and_its_transcript_is(tmp_path: Path) -> None:
    data = written(tmp_path / "tables", *tables())
    effects = fixed_by(
        data,
        "chunker",
        "[as_transcribed]",
        "dataset.unit=documents",
        CONF,
        "chunker=as_extracted",
    )
    effect = effects["as_transcribed"]
    assert (effect.state, effect.unmeasured, effect.worse) == ("up", 0, 0)
    assert effect.treatment_mean is not None
    assert effect.treatment_mean > 0.8


def two_in_one(single: Sequence[Row]) -> list[Row]:
    pairs = zip(single, [*single[20:], *single[:20]], strict=True)
    return [
        {"id": f"{a['id']}+{b['id']}", "question": f"{a['question']} And also: {b['question']}",
         "answers": a["answers"], "gold_ids": [*a["gold_ids"], *b["gold_ids"]]}
        for a, b in pairs
    ]  # fmt: skip


def test_f8_one_search_finds_one_part_and_two_searches_find_both(tmp_path: Path) -> None:
    data = written(tmp_path / "parts", CORPUS.values(), two_in_one(SINGLE))
    chosen = ["rewriter=decompose", "reader@rewriter.reader=function",
              'rewriter.reader.function="upstream_fixes:take_apart"',
              "rewriter.keep_question=false"]  # fmt: skip
    effects = fixed_by(data, "rewriter", f"[{{decompose: {chosen}}}]", "reranker.top_k=2")
    effect = effects["decompose"]
    assert effect.state == "up"
    assert effect.control_mean is not None
    assert effect.control_mean < 0.8
