"""F12: sentences in passages that give orders to a model, and answers that follow them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ragablate.assemble.cleaning import cleaned
from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.finding import Evidence, count
from ragablate.judge.content import content_words, vocabulary

_ADDRESSING = (
    "ai assistant assistants llm llms model models language chatbot chatbots always never please "
    "ignore disregard instructions instruction previous prior system prompt users user ki ia"
)
_ADDRESSED = frozenset(_ADDRESSING.split())


def orders(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Passages with orders to a model: those that answers were shown, then others of a corpus."""
    shown: dict[str, list[Case]] = defaultdict(list)
    texts: dict[str, str] = {}
    for case in cases:
        for passage in case.shown:
            shown[passage.pid].append(case)
            texts.setdefault(passage.pid, passage.text)
        for pid in case.entry.shown or () if not case.shown else ():
            shown[pid].append(case)
            texts.setdefault(pid, known.text(pid))
    for pid, text in texts.items():
        found = cleaned(text)[1]
        if found:
            yield _evidence(pid, found, shown[pid], cuts)
    for other in known.given or ():
        found = cleaned(other.text)[1] if other.pid not in texts else ()
        if found:
            says = f"{other.pid} of the corpus gives orders to a model; no failed answer saw it"
            yield Evidence((), says, (other.pid,), {}, found)


def _evidence(pid: str, found: Sequence[str], cases: Sequence[Case], cuts: Cuts) -> Evidence:
    """Which of the answers that saw the orders hold what these ask for."""
    shares = {case.qid: max(_followed(order, case) for order in found) for case in cases}
    obeyed = [case for case in cases if shares[case.qid] >= cuts.followed]
    says = f"{pid} gives orders to a model and was shown to {count(len(shares), 'failed answer')}; "
    says += f"{len(obeyed)} of these say what it asks for" if obeyed else "none says what it asks"
    quotes = (*found, *dict.fromkeys((case.entry.answer or "") for case in obeyed))
    qids = tuple(sorted({case.qid for case in obeyed or cases}))
    return Evidence(qids, says, (pid,), {"followed": round(max(shares.values()), 3)}, quotes)


def _followed(order: str, case: Case) -> float:
    """Share of an order's words that the answer holds and the question does not."""
    asked = content_words(order) - _ADDRESSED - vocabulary(case.entry.question)
    if not asked or case.entry.answer is None:
        return 0.0
    return len(asked & vocabulary(case.entry.answer)) / len(asked)
