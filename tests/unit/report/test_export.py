"""Effects for a spreadsheet and a paper, and the citation."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.bundle.read import Bundle
from ragablate.records import Comparison
from ragablate.report.cite import cite
from ragablate.report.export import COLUMNS, effects_csv, effects_latex, latex

Study = tuple[Bundle, Comparison]
ID = "ab" * 32
_FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "a;=1", "a,=1", "＝1", "|=1")


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_effect_is_a_row_at_full_precision(study: Study) -> None:
    comparison = study[1]
    rows = _rows(effects_csv(comparison))
    assert len(rows) == len(comparison.effects)
    first = rows[0]
    assert (first["effect"], first["ci95_low"], first["p"]) == ("0.25", "0.17", "1e-05")
    assert (first["control"], first["treatment"]) == ("control", "retriever=dense")
    assert (first["verdict"], first["label"]) == (
        "retriever improves answers", "causal with limits",
    )  # fmt: skip


def test_what_is_missing_is_an_empty_cell(study: Study) -> None:
    row = next(r for r in _rows(effects_csv(study[1])) if r["id"] == "c")
    assert {row[k] for k in ("effect", "control_mean", "ci95_low", "p")} == {""}
    assert row["n"] == "0"


def test_a_negative_number_stays_a_number(study: Study) -> None:
    effects = (replace(study[1].effects[0], effect=-0.25),)
    assert _rows(effects_csv(replace(study[1], effects=effects)))[0]["effect"] == "-0.25"


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.one_of(st.text(), st.tuples(st.sampled_from(_FORMULAS), st.text()).map("".join)),
        min_size=20,
        max_size=30,
    )
)
def test_no_text_is_a_formula_in_a_spreadsheet(study: Study, texts: list[str]) -> None:
    effect = study[1].effects[0]
    effects = tuple(replace(effect, id=text, population=text, detail=text) for text in texts)
    rows = _rows(effects_csv(replace(study[1], effects=effects)))
    assert len(rows) == len(texts)
    for row in rows:
        assert set(row) == set(COLUMNS)
        for name in ("id", "population", "detail"):
            assert not re.search(r"(?:^|[;,|])\s*[=+\-@＝＋－＠]", row[name])
            assert not re.search("[\r\n\t\x00\x1b]", row[name])


def test_the_latex_table_is_one_of_booktabs(study: Study) -> None:
    text = effects_latex(*study, ID)
    assert r"\usepackage{booktabs}" in text.splitlines()[0]
    assert (
        r"swap\_retriever & 160 & 0.50 $\to$ 0.75 & +0.25 & +0.17 to +0.33 & 2.0e-05 & "
        r"45 / 5 / 110 & up & causal with limits \\"
    ) in text
    assert r"\caption{Effects on toy (correct, answerable questions, margin 0.05)." in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in rows} == {8}


def test_measures_that_differ_have_a_column(study: Study) -> None:
    bundle, comparison = study
    other = replace(comparison.effects[1], measure="token_f1")
    effects = (comparison.effects[0], other, *comparison.effects[2:])
    text = effects_latex(bundle, replace(comparison, effects=effects), ID)
    assert r"\begin{tabular}{llrrrrrrll}" in text
    assert r"placebo & token\_f1, answerable & 160" in text


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(exclude_categories=())))
def test_nothing_of_a_text_is_a_command_of_latex(text: str) -> None:
    allowed = (
        r"\\textbackslash\{\}|\\textasciitilde\{\}|\\textasciicircum\{\}|\\textless\{\}|"
        r"\\textgreater\{\}|\\textbar\{\}|\\textquotedbl\{\}|\\textasciigrave\{\}|"
        r"\\textquotesingle\{\}|\{\[\}|\{\]\}|\$\\(?:to|approx|pm)\$|\\[{}$&#_%]"
    )
    assert not re.search(r"[\\{}$&#_%~^\n]", re.sub(allowed, "", latex(text)))


# ── citation ────────────────────────────────────────────────────────────────────────────


def test_a_citation_names_ids_command_and_claims(study: Study) -> None:
    text = cite(*study, ID)
    for line in (
        f"bundle id     {ID}",
        f"question set  toy, 2 questions, sha256 {'cd' * 32}",
        "command       ragablate run retriever=dense",
        "margin        0.05, declared before scoring",
        "claim         swap_retriever: retriever improves answers (claim: causal with limits)",
        f"{'':14}On 8 answerable questions, replacing bm25 by dense changed correct by +0.25.",
        "              Limit: 1 error in retriever=dense",
        "data          Somebody (2020), CC BY 4.0",
    ):
        assert f"{line}\n" in text


def test_no_word_of_a_citation_starts_a_line_or_hides(make_study: Callable[..., Study]) -> None:
    attack = "x\nclaim         forged\x1b[2J\u202e"
    study = make_study(data=attack, sentence=attack, attribution=attack)
    text = cite(*study, ID)
    assert "\nclaim         forged" not in text
    assert not re.search("[\x1b\u202e]", text)
