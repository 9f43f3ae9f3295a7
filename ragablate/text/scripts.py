"""Character classes of the scripts that are written without spaces between words."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

SPACELESS = (
    r"\u0e00-\u0e7f\u0e80-\u0eff"  # Thai, Lao
    r"\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Tibetan, Myanmar, Khmer
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff"  # Han
    r"\uf900-\ufaff\U00020000-\U000323af"  # Han, compatibility and extensions
    r"\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
    r"\u3105-\u312f\u31a0-\u31bf\ua000-\ua48f"  # Bopomofo, Yi
)
"""Body of a regular expression class: letters each of which counts as a word of its own."""

HANGUL = r"\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
"""Body of a regular expression class: Korean, spaced, but with particles glued to words."""


@lru_cache(maxsize=1)
def marks() -> str:
    r"""Body of a regular expression class: combining marks and invisible joiners.

    They belong to the character before them, which ``\w`` of the standard library does
    not know (it would cut Hindi and Hebrew words at every vowel sign).
    """
    ranges: list[tuple[int, int]] = []
    for block in (range(0x300, 0x20000), range(0xE0000, 0xE01F0)):
        for code in block:
            if unicodedata.category(chr(code)) not in _ATTACHED:
                continue
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1] = (ranges[-1][0], code)
            else:
                ranges.append((code, code))
    return "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges)


_ATTACHED = frozenset({"Mn", "Mc", "Me", "Cf"})
