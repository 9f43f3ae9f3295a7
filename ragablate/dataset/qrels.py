"""Relevance judgements as BEIR has them: query-id, corpus-id and score, tab-separated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from ragablate.dataset import files
from ragablate.dataset.rows import Line


@dataclass(slots=True)
class Judgements:
    """What a split says, by query."""

    grades: dict[str, dict[str, float]] = field(default_factory=dict)
    """Grade by query and pid."""
    first: dict[str, Line] = field(default_factory=dict)
    """Where each query stands first."""
    places: dict[tuple[str, str], Line] = field(default_factory=dict)
    """Where each judgement stands first."""
    lost: int = 0
    """How many lines could not be read, or 1 where the file itself could not."""

    def add(self, line: Line, query: str, pid: str, grade: float, problems: list[str]) -> None:
        """Take one judgement in; of two for one passage the later grade counts."""
        grades = self.grades.setdefault(query, {})
        if (grades.get(pid, grade) > 0) != (grade > 0):
            problems.append(
                f"{line}: '{pid}' is judged relevant to query '{query}' and not relevant "
                f"({self.places[query, pid].place}). Delete one of them."
            )
        grades[pid] = grade
        self.first.setdefault(query, line)
        self.places.setdefault((query, pid), line)

    def gold(self, query: str) -> list[str]:
        """What is relevant to a query, in file order."""
        return [pid for pid, grade in self.grades[query].items() if grade > 0]

    def refuse_unknown(self, pids: set[str], problems: list[str]) -> None:
        """Report and drop gold that is in no corpus; what is not relevant may be unknown."""
        for query in self.grades:
            for pid in self.gold(query):
                if pid not in pids:
                    problems.append(
                        f"{self.places[query, pid]}: the gold passage '{pid}' is in no corpus. "
                        "Correct the id, or set allow_missing_gold=true to count such gold as "
                        "missing."
                    )
                    del self.grades[query][pid]


def read_qrels(path: Path, problems: list[str]) -> Judgements:
    """All judgements of a file; a sentence for every line that is none is put to ``problems``.

    The first line is a header if its third column is no number. A missing file is for the
    caller to report.
    """
    judged = Judgements()
    text = files.text(path, problems)
    if text is None:
        judged.lost = 1
    for number, row in enumerate((text or "").split("\n"), start=1):
        cells = [cell.strip() for cell in row.split("\t")]
        if not row.strip() or (number == 1 and len(cells) == 3 and _grade(cells[2]) is None):
            continue
        line = Line(path, number)
        grade = _grade(cells[2]) if len(cells) == 3 else None
        if grade is None or not cells[0] or not cells[1]:
            judged.lost += 1
            problems.append(
                f"{line}: '{row.strip()[:60]}' is no judgement. Write query-id, corpus-id and a "
                "number, with tabs between them."
            )
            continue
        judged.add(line, cells[0], cells[1], grade, problems)
    return judged


def _grade(cell: str) -> float | None:
    try:
        grade = float(cell)
    except ValueError:
        return None
    return grade if math.isfinite(grade) else None
