"""A data set small enough to read by eye, for tests of every kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PASSAGES = [
    (
        "p1",
        "Zorbat Bridge",
        "The Zorbat Bridge was opened by Ada Lind in 1931. It crosses the Mirr.",
    ),
    ("p2", "Mirr", "The Mirr is a river of 214 kilometres. It rises near Tollow."),
    ("p3", "Tollow", "Tollow is a town of 8,400 people. Its mayor is Jon Brandt."),
    ("p4", "Ada Lind", "Ada Lind was an engineer born in Varn. She also built two harbours."),
    ("p5", "Varn", "Varn is the capital of Ostland. Its harbour was built in 1902."),
    ("p6", "Ostland", "Ostland has three provinces. Its currency is the krall."),
    ("p7", "Krall", "The krall is divided into 100 penn. It was introduced in 1922."),
    (
        "p8",
        "Harbours of Ostland",
        "The largest harbour of Ostland lies in Varn. Another is in Sund.",
    ),
    ("p9", "Sund", "Sund is a port in the north of Ostland. It exports timber."),
    ("p10", "Timber", "Timber is wood that was prepared for building. Most of it is pine."),
    ("p11", "Bridges of Ostland", "Ostland has 41 bridges. The oldest crosses the Vell."),
    ("p12", "Vell", "The Vell is a short river of 38 kilometres. It flows through Varn."),
]


def ask(qid: str, question: str, answer: str = "", *gold: str) -> dict[str, Any]:
    """One line of ``questions.jsonl``; without an answer it is unanswerable."""
    if not answer:
        return {"id": qid, "question": question, "answerable": False}
    return {"id": qid, "question": question, "answers": [answer], "gold_ids": list(gold)}


QUESTIONS = [
    ask("q1", "Who opened the Zorbat Bridge?", "Ada Lind", "p1"),
    ask("q2", "How long is the river Mirr?", "214 kilometres", "p2"),
    ask("q3", "Who is the mayor of Tollow?", "Jon Brandt", "p3"),
    ask("q4", "Where was the engineer of the Zorbat Bridge born?", "Varn", "p1", "p4"),
    ask("q5", "Which currency has Ostland?", "krall", "p6"),
    ask("q6", "What does Sund export?", "timber", "p9"),
    ask("q7", "Who designed the opera of Varn?"),
    ask("q8", "How many cinemas has Tollow?"),
]


def write_dataset(
    folder: Path,
    passages: Sequence[tuple[str, str, str]] = PASSAGES,
    questions: Sequence[dict[str, Any]] = QUESTIONS,
) -> Path:
    """A data set in our own format, small enough to read by eye."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"id": p, "title": t, "text": x} for p, t, x in passages]
    for name, records in (("corpus", rows), ("questions", list(questions))):
        lines = [json.dumps(r, ensure_ascii=False) for r in records]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
