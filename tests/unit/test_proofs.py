from __future__ import annotations

from dataclasses import replace

import pytest

from ragablate.observed import Observed, ReaderFacts, SearchedAgain
from ragablate.prompts import context_digest
from ragablate.proofs import Beside, Exhibit, Side, prove, prove_steps
from ragablate.records import (
    Alternative,
    Arm,
    Change,
    Context,
    ContextPassage,
    Contrast,
    Evicted,
    Failure,
    Gold,
    GoldPassage,
    Part,
    ResolvedAlternative,
    ResolvedGold,
)
from ragablate.seeds import derive
from ragablate.traces import ContextLine, QuestionLine, Retrieved, TraceLine

READER, OTHER = "r" * 64, "o" * 64


def passage(pid, text="", truncated=False):
    body = text or f"Text of {pid}."
    return ContextPassage(pid, body, body, truncated, 3)


def resolved(qid, *parts, any_of=False):
    """Gold whose parts are lists of pids, each needed."""
    return ResolvedGold(
        qid,
        tuple(
            (ResolvedAlternative(tuple(GoldPassage(passage(p)) for p in part), any_of),)
            for part in parts
        ),
    )


def question(number, gold=(("g",),), answerable=True, gap=False):
    qid = f"q{number:02d}"
    parts = tuple(tuple(f"{pid}{number}" for pid in part) for part in gold)
    return QuestionLine(
        qid=qid,
        question=f"What is {number}?",
        digest=f"d{number}",
        gold_digest=f"g{number}",
        gold=Gold(qid, tuple(Part((Alternative(pid=p),)) for part in parts for p in part),
                  ("x",), answerable),
        resolved=ResolvedGold(qid, (), answerable) if gap or not answerable
        else resolved(qid, *parts),
        eval_gap=gap,
        cluster=qid,
        slices={},
    )  # fmt: skip


def observed(**changes):
    facts = {arm: ReaderFacts() for arm in ("control", "treatment", "placebo")}
    again = {arm: SearchedAgain(20) for arm in facts}
    return Observed(**{"decoding_seed": 0, "readers": facts, "searched_again": again, **changes})


class Study:
    """Two arms written down by hand: contexts by question, everything else sound."""

    def __init__(self, kind="upstream", n=20, variable="retriever", **contrast):
        self.contrast = Contrast("c", "e", "?", kind, variable, "level", "control", "treatment",
                                 "correct", 0.05, **contrast)  # fmt: skip
        self.questions = {q.qid: q for q in map(question, range(n))}
        self.contexts = {}
        self.before = {}
        self.after = {}
        self.changes = (Change(f"{variable}.knob", 1, 2),)
        self.arm_changes = self.changes
        self.readers = (READER, OTHER if kind == "reader" else READER)
        self.observed = (observed(), observed())
        self.beside = Beside(plan="p" * 64)
        self.options = {}
        for number in range(n):
            same = kind in ("reader", "placebo")
            self.show("before", number, [f"g{number}", "x", "y"])
            self.show("after", number, [f"g{number}", "x", "y" if same else "z"])

    def show(self, side, number, passages, replicate=1, **fields):
        """What one arm shows on one question; text is a passage of that pid."""
        shown = tuple(p if isinstance(p, ContextPassage) else passage(p) for p in passages)
        context = Context(shown)
        digest = context_digest(context)
        self.contexts[digest] = ContextLine(digest, shown)
        arm = "control" if side == "before" else "treatment"
        line = TraceLine(
            arm=arm,
            qid=f"q{number:02d}",
            replicate=replicate,
            question=f"What is {number}?",
            retrieved=tuple(Retrieved(p, 1.0, i) for i, p in enumerate(("x", "y"), 1)),
            prompt_pids=tuple(p.pid for p in shown),
            answer=f"{arm} {number} {replicate}",
            context_digest=digest,
            frame_digest="frame",
            prompt_digest=f"prompt {digest}",
            decoding={"seed": replicate},
        )
        getattr(self, side)[line.qid, replicate] = replace(line, **fields)

    def edit(self, side, number, replicate=1, **fields):
        """Change what was recorded of one question."""
        lines = getattr(self, side)
        key = f"q{number:02d}", replicate
        lines[key] = replace(lines[key], **fields)

    def intervene(self, name, **knobs):
        """Make the treatment an intervention of the package."""
        target = {"WithGold": "with_gold", "GoldAsIn": "gold_as_in"}.get(name, name.lower())
        self.arm_changes = self.changes = (
            Change("context._target_", "x", f"ragablate.intervene.{target}.{name}"),
            *(Change(f"context.{key}", None, value) for key, value in knobs.items()),
        )
        return self

    def exhibit(self):
        sides = []
        for place, (name, lines) in enumerate(
            (("control", self.before), ("treatment", self.after))
        ):
            fingerprints = {"reader": self.readers[place]}
            changes = self.arm_changes if place else ()
            arm = Arm(name, changes=changes, fingerprints=fingerprints)
            scores = {key: 1.0 for key in lines}
            sides.append(
                Side(arm, lines, self.questions, "corpus", {"correct": "j"}, scores,
                     self.observed[place])
            )  # fmt: skip
        return Exhibit(self.contrast, sides[0], sides[1], self.contexts, self.changes,
                       self.beside, **self.options)  # fmt: skip

    def proof(self, invariant):
        found = [p for p in prove(self.exhibit()) if p.invariant == invariant]
        assert len(found) == 1
        return found[0]

    def holds(self, invariant):
        return self.proof(invariant).status == "pass"


def with_gold(supply="all", **knobs):
    study = Study("context", variable="context")
    return study.intervene("WithGold", supply=supply, **knobs)


# ── INV-12: the treatment is what it is called ──────────────────────────────────────────


def oracle():
    study = Study("oracle", variable="context")
    for number in range(20):
        study.show("after", number, [f"g{number}"])
    return study


def test_an_oracle_context_holds_all_gold_and_only_gold():
    assert oracle().holds("INV-12")


@pytest.mark.parametrize(
    ("shown", "complaint"),
    [
        (["g3", "x"], "holds passages without gold"),
        ([], "does not hold all gold"),
        ([passage("g3", "Text", truncated=True)], "does not hold all gold"),
        ([passage("g3", "Text")], "does not hold all gold"),
    ],
    ids=["a distractor", "nothing", "cut and said so", "cut and not said"],
)
def test_an_oracle_context_that_is_none_is_refused(shown, complaint):
    study = oracle()
    study.show("after", 3, shown)
    proof = study.proof("INV-12")
    assert (proof.status, proof.consequence) == ("fail", "refuse")
    assert complaint in proof.text
    assert "on 1 of 20 questions (first: q03)" in proof.text


@pytest.mark.parametrize("line", [question(3, answerable=False), question(3, gap=True)])
def test_nothing_is_asked_of_an_oracle_context_where_there_is_no_gold(line):
    study = oracle()
    study.questions["q03"] = line
    study.show("after", 3, ["x"])
    assert study.holds("INV-12")


def test_every_part_of_the_gold_is_needed():
    study = oracle()
    study.questions["q03"] = question(3, (("g",), ("h",)))
    assert not study.holds("INV-12")
    study.show("after", 3, ["g3", "h3"])
    assert study.holds("INV-12")


def test_the_same_text_under_another_id_is_gold():
    study = oracle()
    study.show("after", 3, [passage("copy", "Text of g3.")])
    assert study.holds("INV-12")


def test_a_closed_book_is_empty_on_unanswerable_questions_too():
    study = Study("closed_book", variable="context")
    for number in range(20):
        study.show("after", number, [])
    study.questions["q03"] = question(3, answerable=False)
    assert study.holds("INV-12")
    study.show("after", 3, ["x"])
    assert "the closed book holds passages on 1 of 20" in study.proof("INV-12").text


@pytest.mark.parametrize("left", ["g3", passage("copy", "Text of g3.")], ids=["pid", "text"])
def test_no_gold_is_left_in_a_context_without_gold(left):
    study = Study("necessity", variable="context")
    for number in range(20):
        study.show("after", number, ["x", "y"])
    assert study.holds("INV-12")
    study.show("after", 3, ["x", left])
    assert "gold is left" in study.proof("INV-12").text


def test_a_context_with_gold_has_it_and_keeps_a_distractor():
    study = with_gold()
    assert study.holds("INV-12")
    study.show("after", 3, ["x", "y"])
    assert "gold is missing" in study.proof("INV-12").text
    study.show("after", 3, ["g3"])
    assert "raise assembler.budget_tokens" in study.proof("INV-12").text
    study.show("before", 3, ["g3"])
    assert study.holds("INV-12")


def test_gold_that_is_to_stand_first_stands_first():
    study = with_gold(position="first")
    assert study.holds("INV-12")
    study.show("after", 3, ["x", "g3"])
    assert "stands before the gold" in study.proof("INV-12").text


def test_only_contexts_that_lost_retrieved_gold_are_repaired_by_evicted_gold():
    study = with_gold("evicted")
    for number in range(20):
        study.show("after", number, [f"g{number}", "x", "y"])
    study.options = {"may_change_nothing": True}
    assert study.holds("INV-12")
    study.show("before", 3, ["x", "y"])
    assert "had lost no retrieved gold" in study.proof("INV-12").text
    found = (Retrieved("x", 3.0, 1), Retrieved("y", 2.0, 2), Retrieved("g3", 1.0, 3))
    study.edit("before", 3, retrieved=found, evicted=(Evicted("g3", "budget_cut"),))
    assert study.holds("INV-12")


def test_a_context_with_the_gold_of_another_arm_covers_the_same_parts():
    study = Study("context", variable="context").intervene("GoldAsIn", arm="other")
    other = dict(study.before)
    study.beside = replace(study.beside, traces={"other": other})
    study.show("after", 3, ["x", "y"])
    assert "parts of the gold that the other arm's covers" in study.proof("INV-12").text
    for number in range(20):
        study.show("after", number, [f"g{number}", "x"])
    assert study.holds("INV-12")
    study.show("after", 3, ["g3", "new"])
    assert "got passages without gold" in study.proof("INV-12").text


def test_a_treatment_that_changes_no_context_is_refused_unless_it_is_a_repair():
    study = Study()
    for number in range(20):
        study.show("after", number, [f"g{number}", "x", "y"])
    proof = study.proof("INV-12")
    assert proof.consequence == "refuse"
    assert "identical on 20/20" in proof.text
    study.options = {"may_change_nothing": True}
    assert study.holds("INV-12")


def test_the_same_reader_is_no_treatment():
    study = Study("reader", variable="reader")
    assert study.holds("INV-12")
    study.readers = (READER, READER)
    assert study.proof("INV-12").consequence == "refuse"


def test_gold_of_another_corpus_is_not_looked_for():
    study = oracle()
    study.show("after", 3, [])
    study.beside = replace(study.beside, corpus="another corpus")
    assert study.proof("INV-12").status == "not_checked"


def test_failed_answers_are_not_held_to_a_rule():
    study = oracle()
    study.show("after", 3, [], error=Failure("pipeline", "no"))
    assert study.holds("INV-12")


# ── what is held fixed ──────────────────────────────────────────────────────────────────


def test_a_sound_contrast_passes_everything_that_could_be_checked():
    proofs = prove(Study().exhibit())
    assert {p.invariant for p in proofs if p.status != "pass"} == {"INV-9", "INV-13"}
    assert {p.status for p in proofs if p.invariant in ("INV-9", "INV-13")} == {"not_checked"}


@pytest.mark.parametrize("kind", ["reader", "placebo"])
def test_a_moved_context_breaks_a_contrast_of_readers(kind):
    study = Study(kind, variable="reader")
    assert study.holds("INV-2")
    assert study.holds("INV-20")
    study.show("after", 3, ["x"])
    assert study.proof("INV-2").consequence == "refuse"
    assert "1 question in an arm" in study.proof("INV-20").text


def test_every_decode_of_a_question_is_looked_at():
    study = Study("reader", variable="reader")
    for number in range(20):
        study.show("before", number, [f"g{number}"], 2)
        study.show("after", number, [f"g{number}"], 2)
    assert study.holds("INV-2")
    study.show("after", 3, ["x"], 2)
    assert "differs on 1 of 20 questions (first: q03)" in study.proof("INV-2").text


def test_missing_and_reworded_questions_are_listed():
    study = Study()
    del study.after["q07", 1]
    study.edit("after", 3, question="What else?")
    proof = study.proof("INV-1")
    assert proof.consequence == "refuse"
    assert "2 questions differ between arms" in proof.text
    assert "(q03: text, q07: missing)" in proof.text


def test_a_placebo_may_ask_some_questions_only():
    study = Study("placebo", variable="")
    del study.after["q07", 1]
    assert study.holds("INV-1")


def test_another_reader_is_named_by_what_differs():
    study = Study()
    study.readers = (READER, OTHER)
    study.changes = (*study.changes, Change("reader.temperature", 0.0, 0.2))
    assert "reader.temperature (0.0 -> 0.2)" in study.proof("INV-3").text
    assert study.proof("INV-4").consequence == "refuse"


def test_arms_from_two_executions_are_confounded_rather_than_refused():
    study = Study()
    study.changes = (*study.changes, Change("assembler.budget", 1, 2))
    study.options = {"elsewhere": True}
    proof = study.proof("INV-4")
    assert proof.consequence == "confounded"
    assert "Missing arms: retriever only, assembler only" in proof.text


def test_a_swapped_adapter_is_one_change_and_several_knobs_of_one_are_a_limit():
    study = Study()
    knobs = tuple(Change(f"retriever.{k}", 1, 2) for k in "ab")
    study.changes = knobs
    assert study.proof("INV-4").status == "warn"
    study.changes = (Change("retriever._target_", "A", "B"), *knobs)
    assert study.holds("INV-4")


def test_the_line_of_the_prompt_that_moved_is_quoted():
    study = Study()
    study.edit("after", 3, frame_digest="other", prompt_digest="new")
    study.options = {"frame": lambda d: "Hello.\nToday." if d == "new" else "Hello.\nNow."}
    proof = study.proof("INV-5")
    assert proof.consequence == "confounded"
    assert "on 1 of 20 questions (first: q03, line 2: 'Now.' and 'Today.')" in proof.text


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"corpora_changed": ("control",)}, "the corpus of control was changed"),
        ({"inputs_changed": {"control": ("retriever",)}}, "files or code of retriever changed"),
        ({"searched_again": {"control": SearchedAgain(20, ("q01",))}}, "1 of 20 questions"),
    ],
)
def test_what_did_not_stay_the_same_during_a_run_confounds(found, text):
    study = Study()
    study.observed = (observed(**found), observed())
    proof = study.proof("INV-6")
    assert proof.consequence == "confounded"
    assert text in proof.text


def test_a_bundle_that_recorded_nothing_of_its_run_says_so():
    study = Study()
    study.observed = (None, None)
    statuses = {p.invariant: p.status for p in prove(study.exhibit())}
    assert {i for i, s in statuses.items() if s == "not_checked"} == {
        "INV-6", "INV-9", "INV-13", "INV-14", "INV-15"
    }  # fmt: skip


# ── the reader, asked again and again ───────────────────────────────────────────────────


def probed(changed, decodes=1):
    study = Study()
    again = {}
    for number in range(20):
        line = study.before[f"q{number:02d}", 1]
        answer = "new" if number < changed else line.answer
        again[line.qid, 2] = replace(line, arm="placebo", replicate=2, answer=answer)
    scores = {
        "control": {key: 1.0 for key in study.before},
        "placebo": {key: float(key[0] != "q00") for key in again},
    }
    study.beside = Beside(
        traces={"control": study.before, "placebo": again},
        scores=scores,
        placebo=Arm("placebo", fingerprints={"reader": READER}),
        plan="p",
        decodes=decodes,
    )
    return study


def test_no_changed_answer_bounds_the_share_of_changing_ones():
    proof = probed(0).proof("INV-9")
    assert proof.status == "pass"
    assert "0 of 20 answers changed (95 % upper limit 13.9%)" in proof.text


def test_changed_answers_advise_replicates():
    proof = probed(4).proof("INV-9")
    assert proof.status == "warn"
    assert "4 of 20 answers changed on identical prompts (the score changed on 1)" in proof.text
    assert "does not sample by its settings" in proof.text
    assert "replicates=3" in proof.text
    assert probed(4, decodes=3).holds("INV-9")


def test_a_probe_of_another_reader_shows_nothing():
    study = probed(0)
    study.readers = (OTHER, OTHER)
    assert study.proof("INV-9").status == "not_checked"


def sampling(n, equal):
    study = Study("reader", n=n, variable="reader")
    facts = {"control": ReaderFacts(stochastic=True), "treatment": ReaderFacts()}
    study.observed = (observed(readers=facts),) * 2
    for number in range(n):
        study.show("before", number, [f"g{number}", "x", "y"], 2)
        if number < equal:
            study.edit("before", number, 2, answer=f"control {number} 1")
        study.show("after", number, [f"g{number}", "x", "y"], 2)
    return study


def test_equal_replicates_of_a_sampling_reader_are_a_cache():
    assert sampling(20, 19).holds("INV-10")
    proof = sampling(20, 20).proof("INV-10")
    assert proof.consequence == "refuse"
    assert "on 20/20 questions of control" in proof.text


def test_few_equal_replicates_are_only_a_warning():
    assert sampling(19, 19).proof("INV-10").consequence == "warn"


def test_equal_requests_with_unequal_answers_are_refused():
    study = Study()
    study.show("after", 3, ["g3", "x", "y"])
    assert study.proof("INV-10").consequence == "refuse"
    study.edit("after", 3, answer="control 3 1")
    assert "1 answers shared" in study.proof("INV-10").text


def remote(order):
    """Both arms ask a model elsewhere; ``order`` gives the second an answer came in."""
    study = Study()
    facts = {arm: ReaderFacts(remote=True) for arm in ("control", "treatment")}
    study.observed = (observed(readers=facts),) * 2
    for side in ("before", "after"):
        for number in range(20):
            line = getattr(study, side)[f"q{number:02d}", 1]
            key = f"{READER}/{line.prompt_digest}:1:1"
            at = order(side, derive(0, "order", key))
            study.edit(side, number, timestamp=f"2026-01-01T00:00:{at:.12f}")
    return study


def test_answers_in_one_shuffled_order_are_interleaved():
    assert remote(lambda side, place: 10 + place / 2**63).holds("INV-15")


def test_answers_of_one_arm_before_the_other_are_not():
    early = remote(lambda side, place: (10 if side == "before" else 20) + place / 2**63)
    assert early.proof("INV-15").status == "warn"
    assert "control came before those of treatment" in early.proof("INV-15").text
    late = remote(lambda side, place: (20 if side == "before" else 10) + place / 2**63)
    assert "treatment came before those of control" in late.proof("INV-15").text


def test_two_models_under_one_reader_confound():
    study = Study()
    study.edit("before", 0, model="m-1")
    study.edit("after", 0, model="m-2")
    assert study.proof("INV-15").consequence == "confounded"
    study.readers = (READER, OTHER)
    study.contrast = replace(study.contrast, kind="reader", variable="reader")
    assert study.proof("INV-15").status == "pass"


def test_answers_cut_off_in_one_arm_confound_and_in_both_are_a_limit():
    study = Study()
    for number in range(5):
        study.edit("after", number, finish_reason="length")
    assert study.proof("INV-19").consequence == "warn"
    study.edit("after", 5, finish_reason="length")
    assert study.proof("INV-19").consequence == "confounded"
    for number in range(6):
        study.edit("before", number, finish_reason="length")
    assert study.proof("INV-19").consequence == "warn"
    assert "6 in control, 6 in treatment (first: q00)" in study.proof("INV-19").text


def test_prompts_counted_as_one_largest_number_may_have_been_cut():
    study = Study()
    for number in range(20):
        long = ["g" + str(number), passage("x", "word " * (20 + number))]
        study.show("after", number, long, usage={"prompt_tokens": 50 + number})
        study.edit("before", number, usage={"prompt_tokens": 10})
    assert study.holds("INV-19")
    for number in range(10, 20):
        study.edit("after", number, usage={"prompt_tokens": 60})
    assert "0 in control, 10 in treatment" in study.proof("INV-19").text


# ── questions ───────────────────────────────────────────────────────────────────────────


def test_what_is_known_without_passages_limits_claims_about_retrieval():
    study = Study()
    qids = list(study.questions)
    control = {(qid, 1): float(i < 12) for i, qid in enumerate(qids)}
    closed = {(qid, 1): float(i < 6) for i, qid in enumerate(qids)}
    study.beside = replace(
        study.beside,
        scores={"control": control, "closed": closed},
        closed_book=("control", "closed"),
    )
    assert study.holds("INV-13")
    closed[qids[6], 1] = 1.0
    proof = study.proof("INV-13")
    assert proof.status == "warn"
    assert "13 questions of 20" in proof.text


def test_a_leak_confounds_claims_about_retrieval_only():
    leaky = observed(leaked=("q01", "q02"))
    study = Study()
    study.observed = (leaky, leaky)
    assert study.proof("INV-14").consequence == "confounded"
    study = Study("reader", variable="reader")
    study.observed = (leaky, leaky)
    assert not [p for p in prove(study.exhibit()) if p.invariant == "INV-14"]


def test_questions_chosen_by_failure_confound_unless_decoded_anew():
    study = Study()
    study.observed = (observed(selected_by_failure=True),) * 2
    assert study.proof("INV-22").consequence == "confounded"
    study.observed = (observed(selected_by_failure=True, fresh_control=True),) * 2
    assert study.holds("INV-22")


# ── designs of several arms ─────────────────────────────────────────────────────────────


def test_the_proofs_of_a_step_name_it_and_those_of_the_plan_stand_once():
    proofs = prove_steps([("B to A", Study().exhibit()), ("A to D", Study().exhibit())])
    frames = [p.text for p in proofs if p.invariant == "INV-5"]
    assert [text[:6] for text in frames] == ["B to A", "A to D"]
    assert sum(p.invariant == "INV-17" for p in proofs) == 1
    numbers = [int(p.invariant[4:]) for p in proofs]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(("crowded", "status"), [(1, "warn"), (2, "fail")])
def test_a_budget_that_crowds_distractors_out_of_few_contexts_is_a_limit(crowded, status):
    study = with_gold()
    for number in range(crowded):
        study.show("after", number, [f"g{number}"])
    proof = study.proof("INV-12")
    assert proof.status == status
    assert "leaves no room for a passage without gold beside the gold" in proof.text
    assert f"on {crowded} of 20 questions" in proof.text


def test_a_crowded_context_does_not_hide_a_treatment_that_did_nothing():
    study = with_gold()
    study.show("after", 0, ["g0"])
    study.show("after", 3, ["x", "y"])
    assert study.proof("INV-12").status == "fail"
    assert "gold is missing" in study.proof("INV-12").text
