from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the reader openai_chat needs aiohttp: ragablate[chat]")

from ragablate import session
from ragablate.read.prices import Estimate
from ragablate.report.judging_cost import JudgesEstimate
from ragablate.report.judging_cost import in_words as judging_in_words
from ragablate.report.planned import calls, plan_object
from ragablate.report.spending import estimate, in_words, judging

pytestmark = pytest.mark.usefixtures("hydra")

PRICES = "reader.runtime.prices={m: {prompt: 1, completion: 4}}"


@pytest.fixture
def spent(toy: Path) -> Any:
    def call(*overrides: str) -> Estimate | None:
        data = ("dataset=jsonl", f"dataset.path={toy}", "experiment=closed_book")
        checked = session.check([*data, *overrides])
        found = estimate(checked, calls(checked))
        assert plan_object(checked)["estimate"] == found
        return found

    return call


def chat(*overrides: str) -> tuple[str, ...]:
    return ("reader=openai_chat", "reader.base_url=http://127.0.0.1:9/v1", "reader.model=m",
            *overrides)  # fmt: skip


def test_a_reader_in_this_process_has_no_estimate(spent: Any) -> None:
    assert spent() is None


def test_answers_are_counted_with_their_longest(spent: Any) -> None:
    found = spent(*chat("reader.max_tokens=100", PRICES))
    assert found.completion_tokens == 2 * 8 * 100
    assert found.usd == pytest.approx((found.prompt_tokens + 4 * 1600) / 1e6)


def test_prompts_are_as_long_as_the_templates_and_the_passages_make_them(spent: Any) -> None:
    short, long = (spent(*chat(f"reranker.top_k={k}")).prompt_tokens for k in (1, 12))
    assert 16 * 50 < short < long < 16 * 1000
    budgeted = spent(*chat("reranker.top_k=12", "assembler.budget_tokens=10")).prompt_tokens
    assert budgeted < long


def test_replicates_cost_their_share(spent: Any) -> None:
    one, three = (spent(*chat(f"replicates={k}")).prompt_tokens for k in (1, 3))
    assert three == pytest.approx(3 * one, rel=0.01)


def test_what_is_not_known_is_not_zero(spent: Any) -> None:
    assert spent(*chat()).usd is None
    endless = spent(*chat("reader.max_tokens=null", PRICES))
    assert (endless.completion_tokens, endless.usd) == (None, None)


def test_an_estimate_is_told_with_no_more_figures_than_it_knows() -> None:
    assert in_words(Estimate(1_234_567, 51_200, 1.2345)) == (
        "about 1,200,000 tokens of prompts and at most 51,000 of answers; at most about 1.23 USD."
    )
    assert "at most about 0.0021 USD." in in_words(Estimate(1000, 100, 0.00213))
    assert in_words(Estimate(1234, None, None)) == (
        "about 1,200 tokens of prompts; no cost without reader.runtime.prices."
    )


def grading(*overrides: str) -> tuple[str, ...]:
    at = "judge.correct_llm.endpoint"
    return ("judge=[correct_llm,abstention]", f"{at}.base_url=http://127.0.0.1:9/v1",
            f"{at}.model=m", *overrides)  # fmt: skip


@pytest.fixture
def judging_takes(toy: Path) -> Any:
    def call(*overrides: str) -> JudgesEstimate | None:
        data = ("dataset=jsonl", f"dataset.path={toy}", "experiment=closed_book")
        checked = session.check([*data, *overrides])
        found = judging(checked, calls(checked))
        assert plan_object(checked)["judges_estimate"] == found
        return found

    return call


def test_a_judge_that_grades_takes_a_call_an_answer(judging_takes: Any) -> None:
    assert judging_takes() is None
    found = judging_takes(*grading("judge.correct_llm.endpoint.max_tokens=10"))
    assert found.calls == 2 * 8
    assert found.completion_tokens == 10 * found.calls
    assert 16 * 60 < found.prompt_tokens < 16 * 2000
    assert found.usd is None
    prices = "judge.correct_llm.endpoint.runtime.prices={m: {prompt: 1, completion: 4}}"
    priced = judging_takes(*grading(prices, "judge.correct_llm.endpoint.max_tokens=10"))
    assert priced.usd == pytest.approx((found.prompt_tokens + 4 * 160) / 1e6, rel=0.01)
    assert "at most about" in judging_in_words(priced)


def test_a_judge_of_claims_takes_a_call_a_claim_and_one_more_where_it_says_no(
    judging_takes: Any,
) -> None:
    at = "judge.faithfulness_llm.support"
    own = ("judge=[correct,abstention,faithfulness_llm]", f"{at}.endpoint.model=m",
           f"{at}.endpoint.base_url=http://127.0.0.1:9/v1")  # fmt: skip
    both, one = judging_takes(*own), judging_takes(*own, f"{at}.contradicts=null")
    assert both.calls == 2 * one.calls > 16
