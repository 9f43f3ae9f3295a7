"""Taking out of a passage what gives orders to a model rather than says something to people.

A passage is data that anybody may have written, and a sentence in it can be meant for the
reader of a pipeline (indirect prompt injection: Greshake et al. 2023). What is taken out are
whole sentences that address a model, that set aside its orders, or that forge a chat turn. An
order that looks like any other sentence stays, and so do the sentences after one that goes.
"""

from __future__ import annotations

import re

from ragablate.text.sentences import sentences

_MACHINE = (
    r"(?:A\.?I\.?|LLMs?|(?:large )?language models?|chat ?bots?|(?:AI|virtual) (?:assistants?|"
    r"agents?|models?|systems?)|assistants?|KI(?:-\w+)?|IA)"
)
_ORDERS = (
    r"(?:instructions?|prompts?|rules|directions|guidelines|orders|context|passages?|sources?|"
    r"documents?)"
)
_PATTERNS = (
    # sets aside what the model was told
    rf"\b(?:ignore|disregard|forget|override|bypass)\b.{{0,30}}\b(?:previous|prior|above|earlier|"
    rf"preceding|other|your|all|any)\b.{{0,30}}\b{_ORDERS}\b",
    r"\b(?:ignorier\w*|vergiss|vergesst)\b.{0,40}\b(?:Anweisung|Instruktion|Vorgabe)\w*",
    r"\b(?:ignore[rz]?|oublie[rz]?|ne tene?z pas compte)\b.{0,40}\b(?:instructions|consignes)\b",
    r"\b(?:ignora|ignore|olvida|olvide)\b.{0,40}\b(?:instrucciones|indicaciones|istruzioni)\b",
    # speaks to a machine
    rf"^\W*(?:(?:note|notice|message|attention|instructions?|important|dear)\b\W*(?:to|for)?\W*)?"
    rf"(?:(?:the|all|any|every) )?{_MACHINE}(?: (?:assistants?|models?|agents?|systems?|readers?|"
    rf"reading this|answering))*\s*(?::\s|,\s+(?:please|always|never|you|ignore|do not)\b)",
    rf"\b(?:if|when|as) you are (?:an? |the )?{_MACHINE}\b",
    r"\byour (?:system prompt|hidden prompt|(?:original|initial|prior|previous) instructions)\b",
    r"\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to) (?:the )?users?\b",
    r"^\W*(?:new|updated|system|developer) (?:system )?(?:instructions?|prompt|message)\s*:",
    # forges a turn of a chat
    r"<\|(?:im_start|im_end|system|user|assistant|start_header_id|eot_id|endoftext)[^>]*\|?>",
    r"\[/?INST\]|<</?SYS>>|^#{2,} ?(?:system|instruction|assistant)\b",
)
_ORDER = re.compile("|".join(f"(?:{p})" for p in _PATTERNS), re.IGNORECASE | re.MULTILINE)


def cleaned(text: str) -> tuple[str, tuple[str, ...]]:
    """A text without the sentences that give orders to a model, and those sentences.

    Where there is none the text is returned as it is. Else white space around what went
    becomes what stood before it.
    """
    orders = [(start, end) for start, end in sentences(text) if _ORDER.search(text[start:end])]
    if not orders:
        return text, ()
    kept, done = [], 0
    for start, end in orders:
        kept.append(text[done:start])
        done = end + len(text[end:]) - len(text[end:].lstrip())
    kept.append(text[done:])
    rest = "".join(kept)
    return rest.rstrip() if done == len(text) else rest, tuple(text[s:e] for s, e in orders)
