import functools
import sys

import pytest

from ragablate.errors import AdapterError
from ragablate.functions import function_problems, load_function, source_digest


@pytest.fixture
def module(tmp_path, monkeypatch):
    def write(source, name="user_functions"):
        (tmp_path / f"{name}.py").write_text(source)
        sys.modules.pop(name, None)
        return name

    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    for name in ("user_functions", "user_package", "user_package.inner"):
        sys.modules.pop(name, None)


def test_a_function_is_loaded_by_its_name(module):
    name = module("def answer():\n    return 42\n\nclass Tool:\n    def run(): return 7\n")
    assert load_function(f"{name}:answer", "reader.function")() == 42
    assert load_function(f"{name}:Tool.run", "reader.function")() == 7


@pytest.mark.parametrize("spec", ["", "module", "module:", ":name", "a b:c", "m:f()", "m.f", "m:1"])
def test_another_form_is_refused_with_the_right_one(spec):
    with pytest.raises(AdapterError, match=r"reader.function is .*: write it as package.module:n"):
        load_function(spec, "reader.function")
    assert len(function_problems(spec, "reader.function")) == 1


@pytest.mark.parametrize("spec", ["no_such_package:f", "no_such_package.inner:f", "json.nothing:f"])
def test_a_missing_module_is_named(spec):
    with pytest.raises(AdapterError, match=r"there is no module '(no_such_package|json.nothing)'"):
        load_function(spec, "x")
    (problem,) = function_problems(spec, "x")
    assert "there is no module" in problem
    assert "PYTHONPATH" in problem


def test_a_module_that_lacks_something_itself_is_told_apart(module):
    name = module("import no_such_package_either\n")
    with pytest.raises(AdapterError, match=r"importing 'user_functions' fails because .*either'"):
        load_function(f"{name}:f", "x")


def test_a_module_that_fails_while_it_is_imported_is_one_sentence(module):
    name = module("raise RuntimeError('no\\nGPU')\n")
    with pytest.raises(AdapterError) as caught:
        load_function(f"{name}:f", "x")
    assert "importing 'user_functions' fails: RuntimeError: no GPU" in str(caught.value)


def test_a_missing_name_is_refused_with_the_nearest(module):
    name = module("def answer(): ...\nvalue = 3\n")
    with pytest.raises(AdapterError, match=r"has no 'anwser': did you mean 'answer'?"):
        load_function(f"{name}:anwser", "x")
    with pytest.raises(AdapterError, match="has no 'zzz': correct the name"):
        load_function(f"{name}:zzz", "x")


def test_what_cannot_be_called_is_refused(module):
    name = module("value = 3\n")
    with pytest.raises(AdapterError, match="which is of type int"):
        load_function(f"{name}:value", "x")


def test_checking_a_function_does_not_run_its_module(module):
    name = module("raise RuntimeError\n")
    assert function_problems(f"{name}:f", "x") == []
    assert name not in sys.modules


def test_the_digest_moves_with_the_module_and_the_name(module):
    one = "def helper(): return 1\ndef f(): return helper()\ndef g(): return helper()\n"
    name = module(one)
    f, g = load_function(f"{name}:f", "x"), load_function(f"{name}:g", "x")
    before = source_digest(f)
    assert len(before) == 64
    assert source_digest(g) != before
    assert source_digest(functools.wraps(f)(lambda: None)) == before


def test_what_has_no_source_has_no_digest():
    assert source_digest(len) == ""
    assert source_digest(eval("lambda: 1", {"__name__": "typed_in"})) == ""
