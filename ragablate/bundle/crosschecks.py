"""What the files of a bundle say about each other, beside what the comparison is made of.

Each thing is written down more than once: a digest beside what it is of, an answer's line
beside its question's, a ranking in two formats. Where the two do not agree, one was changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ragablate.bundle.read import Bundle
from ragablate.bundle.write import arm_folder, trec_lines
from ragablate.codec import decode
from ragablate.dataset.digests import gold_digest
from ragablate.errors import BundleError
from ragablate.prompts import context_digest, frame_digest, prompt_digest
from ragablate.records import Context, Prompt
from ragablate.traces import QuestionLine, TraceLine, gold_parts

_SETTINGS = ("seed", "replicates", "limit", "alpha", "power", "cluster_by")


def disagreements(bundle: Bundle) -> Iterator[str]:
    """Every place where two files of a bundle disagree, as a sentence.

    Raises:
        BundleError: A prompt cannot be read.
    """
    yield from _settings(bundle.plan)
    if bundle.given is not None:  # its texts are gone, and with them what the digests are of
        for arm in bundle.traces:
            yield from _ranking(bundle, arm)
        return
    yield from _questions(bundle.questions)
    for digest, line in bundle.contexts.items():
        if context_digest(Context(line.passages)) != digest:
            yield f"contexts.jsonl: the context {digest[:12]} does not have that digest"
    frames: dict[str, str] = {}
    for digest, prompt in stored_prompts(bundle.folder / "prompts.jsonl"):
        if prompt_digest(prompt) != digest:
            yield f"prompts.jsonl: the prompt {digest[:12]} does not have that digest"
        frames[digest] = frame_digest(prompt)
    for arm in bundle.traces:
        yield from _arm(bundle, arm, frames)


def _settings(plan: Mapping[str, Any]) -> Iterator[str]:
    for key in _SETTINGS:
        said, composed = plan.get(key), plan["config"].get(key)
        if said != composed:
            yield f"plan.json: {key} is {said!r}, and {composed!r} in its config"


def _questions(questions: Mapping[str, QuestionLine]) -> Iterator[str]:
    for qid, question in questions.items():
        if gold_digest(question.gold) != question.gold_digest:
            yield f"questions.jsonl: the gold of question {qid} does not have the digest beside it"


def stored_prompts(path: Path) -> Iterator[tuple[str, Prompt]]:
    """Each stored prompt after the digest it is known by."""
    try:
        for line in path.read_bytes().splitlines():
            row = decode(line, dict)
            yield str(row.pop("digest", "")), msgspec.convert(row, Prompt)
    except (OSError, msgspec.MsgspecError) as error:
        raise BundleError(f"{path} does not hold what it should: {error}") from error


def _arm(bundle: Bundle, arm: str, frames: Mapping[str, str]) -> Iterator[str]:
    seen: set[tuple[str, int]] = set()
    abstained = {
        (v.qid, v.replicate): v.value for v in bundle.verdicts[arm] if v.measure == "abstained"
    }
    for line in bundle.traces[arm]:
        where = f"arm {arm}, question {line.qid}"
        for what in _line(bundle, arm, line, frames):
            yield f"{where}: {what}"
        key = (line.qid, line.replicate)
        if key in seen:
            yield f"{where}: decode {line.replicate} is there twice"
        seen.add(key)
        if line.abstained != (None if abstained.get(key) is None else abstained[key] == 1.0):
            yield f"{where}: its trace and its verdict disagree about the abstention"
    known = {(v.qid, v.replicate) for v in bundle.verdicts[arm]}
    for qid, replicate in sorted(known - seen):
        yield f"arm {arm}, question {qid}: decode {replicate} has verdicts and no trace"
    yield from _ranking(bundle, arm)


def _ranking(bundle: Bundle, arm: str) -> Iterator[str]:
    path = bundle.folder / "arms" / arm_folder(arm) / "run.trec"
    if path.read_bytes() != "".join(trec_lines(bundle.traces[arm])).encode():
        yield f"arm {arm}: run.trec and traces.jsonl hold different rankings"


def _line(bundle: Bundle, arm: str, line: TraceLine, frames: Mapping[str, str]) -> Iterator[str]:
    context, question = bundle.contexts.get(line.context_digest), bundle.questions.get(line.qid)
    if line.arm != arm:
        yield f"its trace is of arm {line.arm}"
    if context is None:
        yield "its context is not stored"
    elif tuple(p.pid for p in context.passages) != line.prompt_pids:
        yield "the context it refers to holds other passages than its trace says"
    if line.prompt_digest and line.prompt_digest not in frames:
        yield "its prompt is not stored"
    elif line.prompt_digest and frames[line.prompt_digest] != line.frame_digest:
        yield "the frame of its prompt does not have the digest beside it"
    if question is None:
        yield "no such question is stored"
    elif not _same_question(line, question, bundle.corpus_of(arm)):
        yield "its trace and questions.jsonl describe it differently"


def _same_question(line: TraceLine, question: QuestionLine, corpus: str) -> bool:
    parts = gold_parts(question.gold_in(corpus))
    return (
        (line.question, line.answerable, dict(line.slices), line.gold_parts)
        == (question.question, question.gold.answerable, dict(question.slices), parts)
    ) and line.gold_pids == tuple(dict.fromkeys(pid for part in parts for pid in part))
