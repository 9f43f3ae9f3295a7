"""Which parts of a gold of several parts an answer covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ragablate.judge.completeness import Completeness
from ragablate.judge.lexical import Lexical
from ragablate.judge.support import Ask
from ragablate.records import (
    Answer,
    Claim,
    ContextPassage,
    Failure,
    GoldPassage,
    ResolvedAlternative,
    ResolvedGold,
)


def gold(pid: str, body: str, *evidence: str, header: str = "") -> GoldPassage:
    return GoldPassage(ContextPassage(pid, header + body, body), evidence)


def one(*passages: GoldPassage, any_of: bool = False) -> ResolvedAlternative:
    return ResolvedAlternative(passages, any_of)


BRIDGE = one(gold("a", "The bridge opened in 1931. It is red.", "The bridge opened in 1931."))
MAYOR = one(gold("b", "Ada Lund was mayor."))
MAYOR_TOO = one(gold("c", "The mayor was called Ada Lund."))
PIER = one(gold("d", "The pier is long."), gold("e", "Its lamps burn gas."))
PARTS = ((BRIDGE,), (MAYOR, MAYOR_TOO))


def judged(
    request_of: Any, verdict: Any, answer: str, parts: Sequence[Any], support: Any = None
) -> tuple[float | None, str]:
    request = replace(request_of(answer), resolved=ResolvedGold("q1", tuple(parts)))
    found = verdict(Completeness(support or Lexical()), request)["completeness"]
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "parts", "value", "reason"),
    [
        ("The bridge opened in 1931. The mayor was Ada Lund [1].", PARTS, 1.0,
         "2 of 2 parts covered"),
        ("The bridge opened in 1931.", PARTS, 0.5, "1 of 2 parts covered; not part 2"),
        ("Ada Lund was called mayor.", PARTS, 0.5, "1 of 2 parts covered; not part 1"),
        ("Whales sing.", PARTS, 0.0, "0 of 2 parts covered; not part 1, 2"),
        # The passage says it, but not its evidence.
        ("It is red.", ((BRIDGE,),), 0.0, "0 of 1 parts covered; not part 1"),
        # Passages that are needed together, and passages of which one is enough.
        ("The long pier burns gas lamps; its pier lamps burn gas.", ((PIER,),), 1.0,
         "1 of 1 parts covered"),
        ("The long pier lamps burn.", ((PIER,),), 1.0, "1 of 1 parts covered"),
        ("The long pier lamps burn.", ((replace(PIER, any_of=True),),), 0.0,
         "0 of 1 parts covered; not part 1"),
        ("The pier is long.", ((replace(PIER, any_of=True),),), 1.0, "1 of 1 parts covered"),
    ],
)  # fmt: skip
def test_a_part_is_covered_by_a_claim_that_it_supports(
    request_of: Any, verdict: Any, answer: str, parts: Any, value: float, reason: str
) -> None:
    assert judged(request_of, verdict, answer, parts) == (value, reason)


def test_the_header_of_a_gold_passage_counts(request_of: Any, verdict: Any) -> None:
    part = (one(gold("a", "It opened in 1931. It is red.", "It opened in 1931.", header="Varn\n")),)
    assert judged(request_of, verdict, "Varn opened in 1931.", (part,))[0] == 1.0
    assert judged(request_of, verdict, "Varn is red.", (part,))[0] == 0.0


def test_the_claims_that_cover_a_part_are_kept(request_of: Any) -> None:
    request = request_of("Whales sing. The bridge opened in 1931.")
    request = replace(request, resolved=ResolvedGold("q1", PARTS))
    [item] = Completeness(Lexical()).judge([request])
    assert [(c.text, c.pid) for c in item.value[0].claims] == [("The bridge opened in 1931.", "a")]


class Unsure:
    cheap = True

    def check(self, asks: Sequence[Ask]) -> list[Claim]:
        return [
            Claim(a.claim, "supported" if a.passages[0].pid == "a" else "unclear") for a in asks
        ]


def test_a_part_the_judge_is_unsure_of_leaves_the_answer_unmeasured(
    request_of: Any, verdict: Any
) -> None:
    got = judged(request_of, verdict, "Whales sing.", PARTS, Unsure())
    assert got == (None, "the judge gave no usable answer on part 2")
    assert (
        judged(request_of, verdict, "Whales sing.", ((BRIDGE,), (BRIDGE, MAYOR)), Unsure())[0] == 1
    )


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "I don't know the gold."},
        {"answer": Answer("gold", abstained=True)},
        {"answer": ""},
        {"answer": "Yes."},
        {"answer": None, "failure": Failure("pipeline", "x")},
        {"answer": None},
        {"answerable": False},
        {"gold": []},
    ],
)
def test_without_a_claim_or_a_part_completeness_is_unmeasured(
    request_of: Any, verdict: Any, phrases: Sequence[str], change: dict[str, Any]
) -> None:
    request = request_of(**{"answer": "The gold.", "gold": [["a"]], **change})
    value, reason = verdict(Completeness(Lexical(), phrases), request)["completeness"]
    assert value is None
    assert reason
