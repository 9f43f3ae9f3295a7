"""Making untrusted text safe to show: in a terminal, in Markdown, in HTML inside Markdown.

Questions, answers, corpora and configs may hold anything. Shown, they are text: no escape
sequence moves the cursor, no override turns the line around, no markup is rendered, no link
is live and nobody is mentioned.
"""

from __future__ import annotations

import html
import re

_ANSI = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)"  # OSC, DCS, …
    "|\x1b[ -/]*[0-~]"  # two-character escapes
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # controls that are not white space
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"  # soft hyphen, direction marks and overrides, joiners, tags
)
_SURROGATE = re.compile("[\ud800-\udfff]")

_MARKUP = re.compile(r"[\\`*\[\]~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LINE_START = re.compile(r"^(?:[#=]|[+-](?!\d)|\d+(?=[.)]))")
_LIVE = re.compile(
    r"(?<!\w)@|@(?!\d+(?:[^\w.]|\.(?!\w)|$))"  # mentions, e-mail; not measure@10
    r"|#(?=\d)|(?<=\bGH)-(?=\d)"  # references to issues
    r"|:(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\."  # links
    r"|:(?=[\w+\\-]+:)"  # emoji
    r"|\$",  # formulas
    re.IGNORECASE,
)
_PLAIN_CODE = re.compile(r"[^`|\\]+")


def clean(text: object) -> str:
    """Text on one line, without escape sequences, control and direction characters.

    White space of every kind, line ends included, becomes single spaces; a lone surrogate,
    which no file could hold, becomes U+FFFD.
    """
    plain = _UNSEEN.sub("", _ANSI.sub("", str(text)))
    return " ".join(_SURROGATE.sub("\ufffd", plain).split())


def inline(text: object) -> str:
    """Markdown that shows ``text`` literally, in a paragraph, list item, heading or table cell."""
    marked = _MARKUP.sub(r"\\\g<0>", html.escape(clean(text), quote=False))
    return _LINE_START.sub(_at_start, _dead(marked)).replace("|", "&#124;")


def code(text: object) -> str:
    """Markdown that shows ``text`` literally as code, also within a table cell."""
    plain = clean(text)
    if _PLAIN_CODE.fullmatch(plain):
        return f"`{plain}`"
    return f"<code>{inline(plain)}</code>"


def html_text(text: object) -> str:
    """HTML that shows ``text`` literally, for an HTML block within Markdown."""
    return _dead(html.escape(clean(text)))


def fenced(text: object, language: str = "") -> str:
    """A fenced code block with ``text`` on its only line."""
    plain = clean(text)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{plain}\n{fence}"


def _dead(text: str) -> str:
    """Break up whatever a renderer would turn into a link, a mention, an emoji or a formula."""
    return _LIVE.sub(r"<span>\g<0></span>", text)


def _at_start(found: re.Match[str]) -> str:
    """Keep a text from opening a heading, a list or a rule."""
    start = found.group()
    return f"{start}\\" if start[0].isdigit() else f"\\{start}"
