"""Digests of what a reader saw, and the two proofs they carry.

``context_digest``: over the ordered (pid, text) pairs after the intervention; fixed-context
arms agree on it. ``frame_digest``: over the prompt with the evidence cut out; fixed-reader
arms agree on it.
"""

from __future__ import annotations

from ragablate.codec import digest_texts
from ragablate.records import Context, Prompt


def context_digest(context: Context) -> str:
    """sha256 over the ordered (pid, text) pairs of a context."""
    return digest_texts((p.pid, p.text) for p in context.passages)


def prompt_digest(prompt: Prompt) -> str:
    """sha256 over the whole prompt, the question's own id apart."""
    return digest_texts(
        [("question", prompt.question), *((s.role, s.pid, s.text) for s in prompt.segments)]
    )


def frame_digest(prompt: Prompt) -> str:
    """sha256 over the prompt with the evidence block cut out.

    It does not depend on how many passages there are; a count, a date or a score that a
    template prints outside the evidence shows as a different frame.
    """
    frame = [(s.role, s.text) for s in prompt.segments if not s.pid]
    return digest_texts([("question", prompt.question), *frame])


def prompt_text(prompt: Prompt) -> str:
    """The prompt as one text, for people: each message under its role."""
    parts: list[str] = []
    role = ""
    for segment in prompt.segments:
        if segment.role != role:
            role = segment.role
            parts.append(f"{'' if not parts else chr(10) * 2}[{role}]\n")
        parts.append(segment.text)
    return "".join(parts)
