"""What passages say of a claim, by its words."""

from __future__ import annotations

import pytest

from ragablate.judge.lexical import Lexical
from ragablate.judge.support import Ask
from ragablate.records import Claim, ContextPassage


def ruled(claim: str, *texts: str) -> tuple[str, str]:
    passages = tuple(ContextPassage(f"p{n}", text, text) for n, text in enumerate(texts, 1))
    [found] = Lexical().check([Ask(claim, passages)])
    assert found.text == claim
    assert (found.pid != "") == (found.status in ("supported", "contradicted"))
    assert all(found.quote in text for text in texts if found.quote) or len(texts) > 1
    return found.status, found.pid


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The bridge was opened in 1958.", "The bridge was opened in 1957 by the king."),
        ("Growth was 15 %.", "The report is long. Growth was 14.5 % in 2020."),
        ("It was signed on 3 May 1957.", "It was signed on 25 March 1957."),
        ("It was signed on 3 June 1957.", "It was signed on 25 March 1957."),
        ("The museum is open on Mondays.", "The museum is not open on Mondays."),
        ("The museum is not open on Mondays.", "Tickets are cheap. The museum is open on Mondays."),
        ("Das Museum ist montags geöffnet.", "Das Museum ist montags nicht geöffnet."),
        ("这座桥是钢桥。", "这座桥不是钢桥。"),
        ("The plan holds 40 seats.", "The plan holds 50 seats."),
    ],
)
def test_a_passage_that_says_otherwise_contradicts(claim: str, text: str) -> None:
    assert ruled(claim, text) == ("contradicted", "p1")


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        # Denied is something else.
        (
            "The treaty was signed in Rome.",
            "The treaty, which Ely did not sign, was signed in Rome.",
        ),
        (
            "The bridge is a road bridge.",
            "The bridge is not only a road bridge but a railway bridge.",
        ),
        (
            "The museum is open on Mondays.",
            "The museum is open on Mondays. It is not open on Sundays.",
        ),
        (
            "The museum is not open on Sundays.",
            "The museum is open on Mondays. The museum is not open on Sundays.",
        ),
        ("这座桥很有名。", "这座桥不仅很有名，还很古老。"),
        ("Growth was 14.5 %.", "Growth was 14.5 %. Growth was 9 % a year before."),
    ],
)
def test_support_is_not_taken_for_denial(claim: str, text: str) -> None:
    assert ruled(claim, text) == ("supported", "p1")


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The bridge has 9 arches.", "The bridge was opened in 1957."),
        ("The bridge was opened by Edna Moll.", "The bridge was opened by the king."),
        ("The tower is 300 m high.", "The tower draws 7 million guests up its high stairs."),
        ("Whales sing.", "The museum is not open."),
        ("Growth was 15 %.", "Growth was strong in 2020."),
    ],
)
def test_a_passage_about_something_else_decides_nothing(claim: str, text: str) -> None:
    assert ruled(claim, text) == ("unsupported", "")


def test_support_goes_before_contradiction_and_ties_go_by_pid() -> None:
    old, new = "The museum is open on Mondays.", "The museum is not open on Mondays."
    assert ruled("The museum is open on Mondays.", new, old, old) == ("supported", "p2")
    assert ruled("The museum is open on Mondays.", new, new) == ("contradicted", "p1")


def test_without_a_passage_nothing_is_decided() -> None:
    assert Lexical().check([Ask("Whales sing.", ())]) == [Claim("Whales sing.", "unsupported")]
    assert Lexical().check([]) == []
