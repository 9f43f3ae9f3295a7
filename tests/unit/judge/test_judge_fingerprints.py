"""What identifies a verdict of a model that judges: its name, its prompts, its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from ragablate.adapters import fingerprint, source
from ragablate.judge.endpoint import shipped
from ragablate.judge.faithfulness import Faithfulness

CATALOGUE = Path(__file__).parents[3] / "conf" / "judge"
ENDPOINT = {
    "correct_llm": "endpoint",
    "faithfulness_llm": "support.endpoint",
    "citation_support_llm": "support.endpoint",
}
PROMPT = {
    "correct_llm": "prompt",
    "faithfulness_llm": "support.supports",
    "citation_support_llm": "support.supports",
}


def own(name: str, **changes: Any) -> str:
    """The fingerprint of a judge of the catalogue with some knobs set by dotted path."""
    config = OmegaConf.load(CATALOGUE / f"{name}.yaml")[name]
    config = OmegaConf.merge(config, {"phrases": ["no answer"]})
    where = ENDPOINT[name]
    for path, value in {
        f"{where}.base_url": "http://h/v1",
        f"{where}.model": "m",
        **changes,
    }.items():
        OmegaConf.update(config, path, value)
    node: Any = OmegaConf.to_container(config, resolve=True)
    return fingerprint(node, instantiate(node, _convert_="all"))


@pytest.mark.parametrize("name", ENDPOINT)
def test_the_model_and_how_it_decodes_identify_a_verdict(name: str) -> None:
    where = ENDPOINT[name]
    changes = [
        {},
        {f"{where}.model": "m-2"},
        {f"{where}.base_url": "http://other/v1"},
        {f"{where}.temperature": 0.5},
        {f"{where}.max_tokens": 8},
        {f"{where}.extra_body": {"top_k": 1}},
        {"phrases": ["none"]},
    ]
    found = [own(name, **change) for change in changes]
    assert len(set(found)) == len(found)
    assert own(name) == found[0]
    assert own(name, **{f"{where}.runtime.max_concurrency": 2}) == found[0]


@pytest.mark.parametrize("name", ENDPOINT)
def test_the_words_of_the_prompt_identify_a_verdict_wherever_they_lie(
    name: str, tmp_path: Path
) -> None:
    knob = PROMPT[name]
    words = CATALOGUE / "prompts" / f"{knob.rpartition('.')[2].replace('prompt', 'correct')}.txt"
    file = tmp_path / f"{words.stem}.txt"
    file.write_text(words.read_text(encoding="utf-8"), encoding="utf-8")
    same = own(name, **{knob: str(file)})
    assert shipped(str(file)).digest == shipped(words.stem).digest
    assert same == own(name)
    file.write_text(words.read_text(encoding="utf-8").replace("You ", "You kindly "), "utf-8")
    assert own(name, **{knob: str(file)}) != same


def test_the_rules_of_a_judge_identify_its_verdicts() -> None:
    from ragablate.judge.distractor import Distractor

    assert source(Faithfulness) != source(Distractor)
