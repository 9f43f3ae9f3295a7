"""Prompt templates: text files that say in which words a reader is asked.

A template is a plain file with a section ``user:`` and, where wanted, ``system:`` and
``passage:``; ``conf/reader/prompts/plain.txt`` tells the format. Nothing in it is code, and
what is put in for a placeholder is never looked at again.

Text from outside (passages, the question, earlier turns) can neither close a delimiter nor
forge a chat turn: wherever it looks like a delimiter of the template or a control token of a
chat format, ``·`` is put after the first character of the look-alike.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import ragablate
from ragablate.errors import AdapterError
from ragablate.records import Context, Prompt, Question, Segment, Turn

Role = Literal["system", "user"]

_DEFAULT_PASSAGE = "<passage {n}>\n{text}\n</passage {n}>"
_DOT = "·"
_IGNORED = r"[\s\u00ad\u200b-\u200f\u2060\ufeff]*"
_HEADING = re.compile(r"^(system|user|passage):[ \t]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_CONTROL = re.compile(
    r"(?=<[|｜]|</?s>|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|gMASK|TOOL_[A-Z]+|AVAILABLE_TOOLS)\]"
    r"|<(?:bos|eos|pad|unk|sop|eop|unused\d+|(?:start|end)_of_\w+)>"
    r"|</?(?:think|tool_call|tool_response|system|user|assistant)>)(.)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Template:
    """The words of a prompt, with places for what differs between questions."""

    name: str
    """File name without its ending."""
    digest: str
    """sha256 of the file's bytes."""
    messages: tuple[tuple[Role, str], ...]
    """Role and text, system first; ``{…}`` marks the places."""
    passage: str
    """How one passage is shown, with ``{text}`` and perhaps ``{n}``."""

    @property
    def declines(self) -> bool:
        """Whether it tells the reader what to write in order to decline."""
        return any("{sentinel}" in text for _, text in self.messages)

    def render(self, question: Question, context: Context, sentinel: str) -> Prompt:
        """The prompt for one question.

        A passage's number and delimiters belong to its own segment, so what is outside the
        passages does not depend on the context, nor on whether it is empty.
        """
        values = {
            "question": self._safe(question.text),
            "history": self._safe(_turns(question.history)),
            "sentinel": sentinel,
        }
        segments: list[Segment] = []
        for role, text in self.messages:
            before, found, after = text.partition("{passages}")
            segments.append(Segment(role, _fill(before, values)))
            if found:
                segments += self._evidence(role, context)
                segments.append(Segment(role, _fill(after, values)))
        return Prompt(question.qid, question.text, tuple(s for s in segments if s.text))

    def _evidence(self, role: Role, context: Context) -> Iterator[Segment]:
        for n, passage in enumerate(context.passages, start=1):
            shown = _fill(self.passage, {"n": str(n), "text": self._safe(passage.text)})
            yield Segment(role, shown + "\n", passage.pid)

    def _safe(self, text: str) -> str:
        """``text`` with every look-alike of a delimiter or control token broken up."""
        return _delimiters(self.passage).sub(rf"\1{_DOT}", _CONTROL.sub(rf"\1{_DOT}", text))


def prompts_dir() -> Path:
    """Folder of the shipped templates: in the package when installed, beside it in a checkout."""
    package = Path(ragablate.__file__).resolve().parent
    inside = package / "conf"
    return (inside if inside.is_dir() else package.parent / "conf") / "reader" / "prompts"


def load_template(name_or_path: str) -> Template:
    """A shipped template by its name, or one of the user's own by its path.

    Args:
        name_or_path: Such as ``strict``, or ``prompts/mine.txt``: what has a folder or an
            ending is a path.

    Raises:
        AdapterError: There is no such file, or it does not keep to the format.
    """
    path = _locate(name_or_path)
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise AdapterError(
            f"prompt '{name_or_path}': {path} cannot be read as UTF-8 text ({error})"
        ) from error
    return _parse(path.stem, text, hashlib.sha256(data).hexdigest(), f"prompt '{name_or_path}'")


def _locate(name_or_path: str) -> Path:
    path = Path(name_or_path).expanduser()
    if path.suffix or len(path.parts) > 1:
        if not path.is_file():
            raise AdapterError(f"prompt '{name_or_path}': there is no file {path}")
        return path
    folder = prompts_dir()
    shipped = folder / f"{name_or_path}.txt"
    if not name_or_path or not shipped.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.txt")))
        raise AdapterError(
            f"prompt '{name_or_path}' is unknown: give one of {known}, or the path of a file "
            "such as prompts/mine.txt"
        )
    return shipped


def _parse(name: str, text: str, digest: str, where: str) -> Template:
    lead, *pieces = _HEADING.split(text)
    stray = [line for line in lead.splitlines() if line.strip() and not line.startswith("#")]
    headings = pieces[::2]
    sections = {h: t.strip("\r\n") for h, t in zip(headings, pieces[1::2], strict=True)}
    passage = sections.pop("passage", _DEFAULT_PASSAGE)
    complaints = [
        (stray, f"'{stray and stray[0]}' stands before the first section: start it with #"),
        (len(set(headings)) < len(headings), "a section stands there twice"),
        (not sections.get("user"), "it has no section 'user:'"),
    ]
    complaints += _misplaced("".join(sections.values())) + _undelimited(passage)
    for wrong, complaint in complaints:
        if wrong:
            raise AdapterError(f"{where}: {complaint}; plain.txt among the shipped prompts "
                               "tells the format")  # fmt: skip
    roles: tuple[Role, ...] = ("system", "user")
    return Template(
        name, digest, tuple((r, sections[r]) for r in roles if sections.get(r)), passage
    )


def _misplaced(text: str) -> list[tuple[object, str]]:
    found = _PLACEHOLDER.findall(text)
    unknown = sorted(set(found) - {"question", "passages", "history", "sentinel"})
    return [
        (unknown, f"it has the unknown placeholder {{{unknown and unknown[0]}}}"),
        ("question" not in found, "it has no {question}"),
        (found.count("passages") != 1, "it needs {passages} exactly once"),
    ]


def _undelimited(passage: str) -> list[tuple[object, str]]:
    before, _, after = passage.partition("{text}")
    unknown = sorted(set(_PLACEHOLDER.findall(passage)) - {"text", "n"})
    own_line = before.endswith("\n") and after.startswith("\n")
    bare = not own_line or not _delimiter_lines(before) or not _delimiter_lines(after)
    return [
        (unknown, f"'passage:' has the unknown placeholder {{{unknown and unknown[0]}}}"),
        (passage.count("{text}") != 1, "'passage:' needs {text} exactly once"),
        (bare, "'passage:' needs {text} on a line of its own, between delimiter lines of at "
               "least three characters each"),
        (_DOT in passage, f"'passage:' holds '{_DOT}', which marks broken look-alikes"),
    ]  # fmt: skip


def _fill(text: str, values: dict[str, str]) -> str:
    """One pass, so that a placeholder inside a value stays as it is."""
    return _PLACEHOLDER.sub(lambda m: values.get(m[1], m[0]), text)


def _turns(history: tuple[Turn, ...]) -> str:
    if not history:
        return ""
    return "".join(f"{turn.speaker}: {turn.text}\n" for turn in history) + "\n"


def _delimiter_lines(passage: str) -> list[str]:
    """Its lines of three characters or more, without white space and the number."""
    lines = [line.strip() for line in passage.split("\n") if line.strip() != "{text}"]
    return [line for line in lines if len(re.sub(r"\s", "", line.replace("{n}", ""))) >= 3]


@cache
def _delimiters(passage: str) -> re.Pattern[str]:
    """Every place where something reads like a delimiter line of a passage.

    Case, white space, invisible characters, full-width forms and the number do not matter.
    The match is a look-ahead: overlapping look-alikes are each broken.
    """
    stems = sorted({_stem(line) for line in _delimiter_lines(passage)})
    forms = "|".join(
        _IGNORED.join(_loose(c) for c in re.findall(r"\{n\}|\S", stem)) for stem in stems
    )
    return re.compile(f"(?={forms})(.)", re.IGNORECASE | re.DOTALL)


def _stem(line: str) -> str:
    """The line up to its number where that cannot be an ordinary word, else all of it."""
    before = line.split("{n}")[0].strip()
    return before if len(before) >= 3 and not before[0].isalnum() else line


def _loose(symbol: str) -> str:
    if symbol == "{n}":
        return r"\d+"
    wide = chr(ord(symbol) + 0xFEE0) if "!" <= symbol <= "~" else symbol
    return f"[{re.escape(symbol)}{re.escape(wide)}]" if wide != symbol else re.escape(symbol)
