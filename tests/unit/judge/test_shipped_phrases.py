from pathlib import Path

import pytest
from omegaconf import OmegaConf

from ragablate.judge.declining import is_abstention, phrase_problems

CONFIG = Path(__file__).parents[3] / "conf" / "config.yaml"


@pytest.fixture(scope="module")
def shipped():
    return tuple(OmegaConf.load(CONFIG)["abstention_phrases"])


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "I'm sorry, but I don't have an answer to your question.",
        "The provided documents do not mention pet insurance.",
        "Not covered by the provided documents.",
        "NOT_ENOUGH_INFO",
        "The date is not mentioned in the provided passages.",
        "Das weiß ich nicht.",
        "Die Dokumente enthalten keine Angaben dazu.",
        "Das geht aus dem Kontext nicht hervor.",
        "No lo sé.",
        "Lo siento, no tengo información.",
        "El contexto no lo dice.",
        "Je ne sais pas.",
        "我不知道。",
        "抱歉，我无法回答这个问题。",
        "根据提供的资料，无法回答。",
        "分かりません。",
        "لا أعرف.",
        "لا توجد معلومات كافية.",
    ],
)
def test_common_refusals_decline(request_of, shipped, answer):
    assert is_abstention(request_of(answer).trace, shipped)


@pytest.mark.parametrize(
    "answer",
    [
        "Paris",
        "No",
        "No, it was not.",
        "Not until 1957.",
        "The treaty does not mention slavery.",
        "Sorry, but a domain name is not personal information.",
        "I do not have the exact date. However, it opened in 1887.",
        "Her song “I Don't Know” was a hit.",
        "Nicht vor 1957.",
        "No es Madrid, es Barcelona.",
        "不是巴黎。",
        "لا، باريس.",
    ],
)
def test_answers_that_deny_something_do_not(request_of, shipped, answer):
    assert not is_abstention(request_of(answer).trace, shipped)


def test_every_phrase_can_be_found(shipped):
    assert phrase_problems(shipped) == []
