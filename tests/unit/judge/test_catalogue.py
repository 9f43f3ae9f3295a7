import inspect
from pathlib import Path

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

CATALOGUE = Path(__file__).parents[3] / "conf" / "judge"
LEXICAL = [
    *["abstention", "answer_match", "citation", "correct", "evidence", "faithfulness", "numbers"],
    *["abstention_by_evidence", "citation_support", "completeness", "injection"],
    *["retrieval", "specifics"],
]


@pytest.mark.parametrize("name", LEXICAL)
def test_every_knob_is_spelled_out_under_the_judges_own_name(name):
    text = (CATALOGUE / f"{name}.yaml").read_text(encoding="utf-8")
    config = OmegaConf.merge({"abstention_phrases": ["no answer"]}, OmegaConf.create(text))
    assert set(config) == {"abstention_phrases", name}
    judge = instantiate(config[name], _convert_="all")
    knobs = set(inspect.signature(type(judge)).parameters)
    assert set(config[name]) - {"_target_"} == knobs
    assert judge.problems() == [] if hasattr(judge, "problems") else True
    assert text.startswith("# ragablate run ")


@pytest.mark.parametrize("name", LEXICAL)
def test_the_yaml_holds_the_defaults_of_the_constructor(name):
    config = OmegaConf.load(CATALOGUE / f"{name}.yaml")[name]
    module = __import__(config["_target_"].rpartition(".")[0], fromlist=["_"])
    kind = getattr(module, config["_target_"].rpartition(".")[2])
    for knob, parameter in inspect.signature(kind).parameters.items():
        if knob in ("phrases", "exact") or parameter.default is parameter.empty:
            continue
        given = config[knob]
        assert (list(given) if OmegaConf.is_list(given) else given) == (
            list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        )
