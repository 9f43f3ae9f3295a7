"""What a plan may take in tokens and money, before any of it is spent."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragablate.own_reader import endpoints
from ragablate.protocols import AssembleRequest
from ragablate.read.prices import Estimate
from ragablate.records import Context, Corpus, Hit, Passage, Question
from ragablate.report.judging_cost import JudgesEstimate, judges_estimate

if TYPE_CHECKING:
    from ragablate.adapters import Pipeline
    from ragablate.checked import Checked

_QUESTIONS = 20
_DOCUMENTS = 50
_TOP_K = 10


def estimate(checked: Checked, calls: Mapping[str, int]) -> Estimate | None:
    """Tokens and cost of the arms whose readers tell them; ``None`` where none does.

    Nothing is searched: the prompts that are measured hold questions of the plan and, in their
    place, as many passages of the corpus as are retrieved, cut by the arm's own assembler.

    Args:
        checked: The plan.
        calls: The most calls of every arm.
    """
    found = []
    for arm, most in calls.items():
        pipeline = checked.pipelines[arm]
        ask = getattr(pipeline["reader"], "estimate", None)
        if ask is not None:
            prompts = _prompts(checked, pipeline)
            found.append(_scaled(ask(prompts), most / len(prompts)))
    if not found:
        return None
    return Estimate(
        sum(each.prompt_tokens for each in found),
        _sum([each.completion_tokens for each in found]),
        _sum([each.usd for each in found]),
    )


def in_words(spending: Estimate) -> str:
    """An estimate on one line."""
    answers = spending.completion_tokens
    tokens = f"about {_rounded(spending.prompt_tokens)} tokens of prompts"
    if answers is not None:
        tokens += f" and at most {_rounded(answers)} of answers"
    if spending.usd is None:
        return f"{tokens}; no cost without reader.runtime.prices."
    usd = f"{spending.usd:.2f}" if spending.usd >= 0.1 else f"{spending.usd:.2g}"
    return f"{tokens}; at most about {usd} USD."


def _prompts(checked: Checked, pipeline: Pipeline) -> list[Any]:
    """Prompts as long as those of the arm, for some questions spread over the set."""
    return [pipeline["reader"].prompt(q, context) for q, context in shown(checked, pipeline)]


def shown(checked: Checked, pipeline: Pipeline) -> list[tuple[Question, Context]]:
    """Some questions spread over the set, with contexts as long as those of an arm."""
    questions = checked.dataset.questions
    some = questions[:: max(1, len(questions) // _QUESTIONS)][:_QUESTIONS]
    passages = _passages(checked, pipeline)
    return [(q, _context(pipeline, q, passages)) for q in some]


def judging(checked: Checked, calls: Mapping[str, int]) -> JudgesEstimate | None:
    """What the chat models of judges may take; ``None`` where no judge asks one."""
    if not endpoints([judge for judge, _ in checked.judges.values()]):
        return None
    control = next(iter(checked.pipelines.values()))
    return judges_estimate(checked, shown(checked, control), sum(calls.values()))


def _passages(checked: Checked, pipeline: Pipeline) -> tuple[Passage, ...]:
    """As many passages as are retrieved, spread over the corpus or cut from some documents."""
    dataset = checked.dataset
    all_ = dataset.passages
    if not all_:
        documents = dataset.documents[:_DOCUMENTS]
        all_ = tuple(islice(pipeline["chunker"].chunk(documents), 10 * _TOP_K))
    top_k = getattr(pipeline["reranker"], "top_k", None) or _TOP_K
    return all_[:: max(1, len(all_) // top_k)][:top_k]


def _context(pipeline: Pipeline, question: Question, passages: tuple[Passage, ...]) -> Context:
    ranking = tuple(Hit(p.pid, 1.0 - i / 1000) for i, p in enumerate(passages))
    asked = AssembleRequest(question.qid, question, ranking)
    items = pipeline["assembler"].assemble(Corpus(passages, ""), [asked])
    return next((item.value for item in items if item.value is not None), Context())


def _scaled(each: Estimate, factor: float) -> Estimate:
    answers, usd = each.completion_tokens, each.usd
    return Estimate(
        round(each.prompt_tokens * factor),
        None if answers is None else round(answers * factor),
        None if usd is None else usd * factor,
    )


def _sum(values: list[Any]) -> Any:
    return None if None in values else sum(values)


def _rounded(count: int) -> str:
    """Two significant figures: more would claim more than a rule of thumb knows."""
    return f"{int(float(f'{count:.2g}')):,}"
