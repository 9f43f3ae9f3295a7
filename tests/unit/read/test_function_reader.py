import sys
import types

import pytest

from ragablate.errors import AdapterError
from ragablate.read.function import FunctionReader
from ragablate.records import Answer, Context, ContextPassage, Question, ReadRequest, Turn

QUESTION = Question("q", "Why? 今", history=(Turn("user", "Earlier."),))
CONTEXT = Context(
    (ContextPassage("a", "T\nOne.\n\n", "One.\n\n"), ContextPassage("b", "[2] Two", "[2] Two"))
)


@pytest.fixture
def user(monkeypatch):
    module = types.ModuleType("user_reader")
    monkeypatch.setitem(sys.modules, "user_reader", module)
    return module


def read(context=CONTEXT, **knobs):
    reader = FunctionReader("user_reader:answer", **knobs)
    request = ReadRequest("x", reader.prompt(QUESTION, context), 2, 77)
    (item,) = reader.read([request])
    assert item.id == "x"
    return item


def test_the_function_gets_question_and_passages_as_assembled(user):
    seen = []
    user.answer = lambda question, passages: seen.append((question, passages)) or "Because."
    item = read()
    assert seen == [("Why? 今", ["T\nOne.\n\n", "[2] Two"])]
    assert item.value.text == "Because."
    assert not item.value.abstained


def test_the_function_gets_no_passages_closed_book(user):
    user.answer = lambda question, passages: repr(passages)
    assert read(Context()).value.text == "[]"


def test_seed_prompt_and_further_arguments_come_by_name(user):
    user.answer = lambda question, passages, seed, prompt, style: f"{seed} {style} {prompt}"
    text = read(args={"style": "terse"}).value.text
    assert text.startswith("77 terse ")
    assert "user: Earlier.\nQuestion: Why? 今" in text


def test_an_answer_record_is_taken_as_it_is(user):
    said = Answer("No.", abstained=True, finish_reason="length", model="m")
    user.answer = lambda question, passages: said
    assert read().value == said


def test_the_sentinel_is_an_abstention(user):
    user.answer = lambda question, passages: " I pass.\n"
    assert read(sentinel="I pass.").value == Answer(" I pass.\n", True, model="user_reader:answer")
    assert not read().value.abstained


def test_an_empty_answer_is_an_answer(user):
    user.answer = lambda question, passages: ""
    assert read().value.text == ""
    assert not read().value.abstained


@pytest.mark.parametrize("returned", [None, 3, ["text"]])
def test_anything_but_text_fails_as_an_outcome(user, returned):
    user.answer = lambda question, passages: returned
    failure = read().failure
    assert failure.kind == "pipeline"
    assert type(returned).__name__ in failure.message


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), "pipeline"),
        (TimeoutError("x"), "infrastructure"),
        (ConnectionResetError("x"), "infrastructure"),
        (OSError("x"), "infrastructure"),
        (MemoryError("x"), "pipeline"),
    ],
)
def test_an_exception_fails_the_one_answer(user, error, kind):
    def answer(question, passages):
        raise error

    user.answer = answer
    failure = read().failure
    assert failure.kind == kind
    assert f"{type(error).__name__}: x" in failure.message


def test_an_interrupt_is_not_an_answer(user):
    def answer(question, passages):
        raise KeyboardInterrupt

    user.answer = answer
    with pytest.raises(KeyboardInterrupt):
        read()


def test_a_missing_function_is_a_problem_and_an_error():
    reader = FunctionReader("no_such_module:answer")
    assert "no_such_module" in reader.problems()[0]
    assert reader.identity() == {"version": ""}
    with pytest.raises(AdapterError, match="no_such_module"):
        list(reader.read([]))


def test_a_stochastic_function_says_so():
    assert FunctionReader("m:f", stochastic=True).stochastic
    assert not FunctionReader("m:f").stochastic


@pytest.mark.parametrize("stop", [SystemExit(0), SystemExit("bye"), GeneratorExit()])
def test_a_function_that_would_end_the_process_fails_its_answer_only(user, stop):
    def answer(question, passages):
        raise stop

    user.answer = answer
    assert read().failure.kind == "pipeline"


def test_an_interrupt_is_never_taken_for_a_failed_answer(user):
    def answer(question, passages):
        raise KeyboardInterrupt

    user.answer = answer
    with pytest.raises(KeyboardInterrupt):
        read()


def test_a_subclass_of_text_is_kept_as_its_text(user):
    class Label(str):
        def __str__(self):
            return "something else"

    user.answer = lambda question, passages: Label("yes")
    assert type(read().value.text) is str
    assert read().value.text == "yes"
