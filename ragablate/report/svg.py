"""A plot of matplotlib's as a piece of a page: its colours, texts and ids made the page's own.

Plots are drawn in the colours of ``INKS`` and with tokens in place of texts. Here every such
colour becomes a class, so that a style sheet decides about light, dark and print, and every
token becomes its text, which therefore needs no font here and is read as nothing but text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from ragablate.report.escape import clean

INKS = {
    "ink": "#010101",
    "soft": "#020202",
    "line": "#030303",
    "band": "#040404",
    "up": "#050505",
    "down": "#060606",
    "flat": "#070707",
    "unclear": "#080808",
    "refused": "#090909",
    "paper": "#0a0a0a",
}
"""Colours to draw with, by what they stand for; the style sheet says what they look like."""

_NAMES = {colour: name for name, colour in INKS.items()}
_KEPT = {"fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "text-anchor",
         "font-size", "font-weight", "opacity", "fill-opacity"}  # fmt: skip
_TOKEN = re.compile(r"@(\d+)@")
_SIZE = re.compile(r"[\d.]+px")
_NO_XML = re.compile("[\ufffe\uffff]")


def token(number: int) -> str:
    """What stands in a plot in place of the text of that number."""
    return f"@{number}@"


def themed(drawn: str, texts: Sequence[str], prefix: str, label: str) -> str:
    """A plot as an element of a page.

    Args:
        drawn: What matplotlib wrote, with tokens as its only texts.
        texts: By number, what the tokens stand for.
        prefix: Keeps the ids of several plots of a page apart.
        label: What the plot shows, for whoever does not see it.
    """
    source = ElementTree.fromstring(drawn)
    used = {_link(node) for node in source.iter()} - {""}
    root = _element(source, texts, prefix, used)
    root.attrib = {
        "class": "plot",
        "viewBox": source.get("viewBox", ""),
        "role": "img",
        "aria-label": _text(label),
    }
    return ElementTree.tostring(root, encoding="unicode")


def _link(node: ElementTree.Element) -> str:
    return next((v[1:] for k, v in node.attrib.items() if k.endswith("href")), "")


def _element(
    node: ElementTree.Element, texts: Sequence[str], prefix: str, used: set[str]
) -> ElementTree.Element:
    made = ElementTree.Element(node.tag.rpartition("}")[2], _attributes(node, prefix, used))
    if made.tag == "text":
        made.text = _TOKEN.sub(lambda m: _text(texts[int(m[1])]), node.text or "")
    for child in node:
        tag = child.tag.rpartition("}")[2]
        if tag in ("metadata", "style", "clipPath"):
            continue
        copy = _element(child, texts, prefix, used)
        if len(copy) or copy.attrib or tag not in ("g", "defs"):
            made.append(copy)
    return made


def _attributes(node: ElementTree.Element, prefix: str, used: set[str]) -> dict[str, str]:
    found: dict[str, str] = {
        k: " ".join(v.split()) for k, v in node.attrib.items() if k in ("d", "x", "y")
    }
    if _link(node):
        found["href"] = f"#{prefix}-{_link(node)}"
    if node.get("id") in used:
        found["id"] = f"{prefix}-{node.get('id')}"
    classes = []
    for declaration in node.get("style", "").split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name in ("fill", "stroke") and value in _NAMES:
            classes.append(f"{name[0]}-{_NAMES[value]}")
        elif name in _KEPT:
            found[name] = value
        elif name == "font" and (size := _SIZE.search(value)):
            # Before 3.10 matplotlib wrote the shorthand, which is no attribute.
            found["font-size"] = size[0]
    if classes:
        found["class"] = " ".join(dict.fromkeys(classes))
    return found


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", clean(text))
