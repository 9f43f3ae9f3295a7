"""Citation recall and precision by the definition of Gao et al. (2023), section 3.

The expected values follow from that definition: a statement has recall where all it cites, read
together, entails it; a citation counts where its statement has recall, unless it does not entail
the statement alone and the others do without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from chat_server import Asked, ChatServer, Reply, completion

from ragablate.judge.citation_support import CitationSupport
from ragablate.judge.endpoint import ChatEndpoint
from ragablate.judge.lexical import Lexical
from ragablate.judge.llm import Llm
from ragablate.judge.support import Ask
from ragablate.records import Answer, Claim, Failure

BRIDGE = ("bridge", "The iron bridge of Varn was opened in 1931.")
MAYOR = ("mayor", "The mayor of Varn in that year was Ada Lund.")
BOTH = ("both", "Ada Lund was mayor of Varn. The iron bridge was opened in 1931.")
WHALES = ("whales", "Whales sing at night.")
PASSAGES = [BRIDGE, MAYOR, BOTH, WHALES]
# Neither of the first two passages carries it alone; the two together do, and so does the third.
JOINT = "The iron bridge of Varn was opened in 1931 by the mayor Ada Lund"


def _values(got: dict[str, tuple[float | None, str]]) -> tuple[float | None, float | None]:
    return got["citation_recall"][0], got["citation_precision"][0]


@pytest.mark.parametrize(
    ("answer", "recall", "precision"),
    [
        # One citation that entails its statement, and one that does not.
        ("The iron bridge of Varn was opened in 1931 [1].", 1.0, 1.0),
        ("The iron bridge of Varn was opened in 1931 [4].", 0.0, 0.0),
        # Two citations, neither sufficient alone: both count.
        (f"{JOINT} [1][2].", 1.0, 1.0),
        (f"{JOINT} [1].", 0.0, 0.0),
        # A sufficient citation next to an irrelevant one.
        ("The iron bridge of Varn was opened in 1931 [1][4].", 1.0, 0.5),
        # Two needed citations next to an irrelevant one: without it the others still do.
        (f"{JOINT} [1][2][4].", 1.0, 2 / 3),
        # Beside a passage that suffices, parts that do not are irrelevant.
        (f"{JOINT} [1][2][3].", 1.0, 1 / 3),
        # Two that each suffice alone: redundant, and both count.
        ("The iron bridge was opened in 1931 [1][3].", 1.0, 1.0),
        # Statements without a citation lower recall, and precision has nothing to say of them.
        ("The iron bridge of Varn was opened in 1931 [1]. Whales sing at night.", 0.5, 1.0),
        ("The iron bridge of Varn was opened in 1931. Whales sing.", 0.0, None),
        # Precision is a share of all citations, not a mean over statements.
        (f"Whales sing at night [1]. {JOINT} [1][2][4].", 0.5, 0.5),
        # Where the statement is not entailed, none of its citations counts.
        ("Dogs bark loudly [1][4].", 0.0, 0.0),
        # What points nowhere is no text, so it never counts; the rest does.
        ("The iron bridge of Varn was opened in 1931 [1][9].", 1.0, 0.5),
        ("The iron bridge of Varn was opened in 1931 [9].", 0.0, 0.0),
        # By position and by pid, cited twice: one citation.
        ("The iron bridge of Varn was opened in 1931 [1][bridge][1].", 1.0, 1.0),
        # A statement of two claims needs both.
        ("The iron bridge was opened in 1931; whales sing at night [1].", 0.0, 0.0),
        ("The iron bridge was opened in 1931; whales sing at night [1][4].", 1.0, 1.0),
        # What claims nothing is no statement.
        ("Yes [4]. The iron bridge of Varn was opened in 1931 [1].", 1.0, 1.0),
    ],
)
def test_recall_and_precision_follow_their_definition(
    request_of: Any, verdict: Any, answer: str, recall: float, precision: float | None
) -> None:
    got = _values(verdict(CitationSupport(Lexical()), request_of(answer, passages=PASSAGES)))
    assert got == (recall, pytest.approx(precision) if precision is not None else None)


def test_the_reasons_name_what_does_not_count(request_of: Any, verdict: Any) -> None:
    answer = "The iron bridge of Varn was opened in 1931 [1][4][zz9][9]. Dogs bark. Cats sleep [2]."
    passages = [*PASSAGES, ("zz1", "x")]
    got = verdict(CitationSupport(Lexical()), request_of(answer, passages=passages))
    recall = "1 of 3 statements are supported by what they cite; 1 cite nothing"
    assert got["citation_recall"] == (pytest.approx(1 / 3), recall)
    precision = (
        "1 of 5 citations support their statement; does not count: whales, mayor; "
        "points nowhere: zz9, 9"
    )
    assert got["citation_precision"] == (0.2, precision)


def test_recall_keeps_what_was_said_of_each_cited_claim(request_of: Any) -> None:
    judge = CitationSupport(Lexical())
    [item] = judge.judge([request_of(f"{JOINT} [1][2]. Whales bark [4].", passages=PASSAGES)])
    found = {claim.text: (claim.status, claim.pid) for claim in item.value[0].claims}
    expected = {f"{JOINT}.": ("supported", "bridge, mayor"), "Whales bark.": ("unsupported", "")}
    assert found == expected


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": "I don't know the bridge [1]."}, "abstained"),
        ({"answer": Answer("x", abstained=True)}, "abstained"),
        ({"answer": None, "failure": Failure("pipeline", "x")}, "pipeline failure: x"),
        ({"answer": ""}, "empty answer"),
        ({"answer": "Yes [1]."}, "no statement"),
        ({"answer": "[1]"}, "no statement"),
    ],
)
def test_without_a_statement_citations_are_unmeasured(
    request_of: Any, verdict: Any, phrases: Sequence[str], change: dict[str, Any], reason: str
) -> None:
    got = verdict(CitationSupport(Lexical(), phrases), request_of(passages=PASSAGES, **change))
    assert set(got.values()) == {(None, reason)}


class Told:
    """A backend that says of each text what it is told, by a word of the text."""

    cheap = True

    def __init__(self, **status: str) -> None:
        self.status = status

    def check(self, asks: Sequence[Ask]) -> list[Claim]:
        return [self._one(ask) for ask in asks]

    def _one(self, ask: Ask) -> Claim:
        [passage] = ask.passages
        key = "_".join(passage.pid.split(", "))
        return Claim(ask.claim, self.status[key], passage.pid)  # type: ignore[arg-type]

    def problems(self) -> list[str]:
        return []


YES, NO, UNCLEAR = "supported", "unsupported", "unclear"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"a_b": UNCLEAR, "a": YES, "b": NO}, (None, None)),
        # Whether b is irrelevant hangs on an answer that could not be used.
        ({"a_b": YES, "a": YES, "b": UNCLEAR}, (1.0, None)),
        # Neither citation needs the unclear one: a stands alone, b is needed where a is not enough.
        ({"a_b": YES, "a": NO, "b": UNCLEAR}, (1.0, None)),
        ({"a_b": NO, "a": UNCLEAR, "b": UNCLEAR}, (0.0, 0.0)),
        ({"a_b": YES, "a": NO, "b": NO}, (1.0, 1.0)),
        ({"a_b": YES, "a": NO, "b": YES}, (1.0, 0.5)),
        ({"a_b": "contradicted", "a": YES, "b": NO}, (0.0, 0.0)),
    ],
)
def test_an_unclear_reply_counts_only_where_a_value_hangs_on_it(
    request_of: Any, verdict: Any, said: dict[str, str], expected: tuple[float | None, ...]
) -> None:
    request = request_of("Whales sing [1][2].", passages=[("a", "x"), ("b", "y")])
    assert _values(verdict(CitationSupport(Told(**said)), request)) == expected


def test_a_chat_model_sees_the_cited_passages_as_one(request_of: Any, verdict: Any) -> None:
    pytest.importorskip("aiohttp", reason="a judge that asks needs aiohttp: ragablate[chat]")

    def script(asked: Asked) -> Reply:
        both = "opened in 1931." in asked.prompt and "in that year" in asked.prompt
        return completion('YES 1: "opened in 1931"' if both else "NO")

    with ChatServer(script) as server:
        judge = CitationSupport(Llm(ChatEndpoint(server.url, "scripted"), contradicts=None))
        got = verdict(judge, request_of(f"{JOINT} [1][2].", passages=[BRIDGE, MAYOR, WHALES]))
        assert _values(got) == (1.0, 1.0)
        # Together, and each alone, which is also the other's absence.
        assert len(server.asked) == 3
        assert not any("Whales" in asked.prompt for asked in server.asked)
