"""Words for powers of ten and small numbers."""

from __future__ import annotations

SCALES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("thousand", "tausend", "mil", "mille", "千", "ألف", "آلاف"), (3,)),
    **dict.fromkeys(("万", "萬"), (4,)),
    **dict.fromkeys(
        ("million", "millions", "millionen", "millón", "millones", "mn", "mio", "مليون", "ملايين"),
        (6,),
    ),
    **dict.fromkeys(("亿", "億"), (8,)),
    **dict.fromkeys(
        ("milliarde", "milliarden", "milliard", "milliards", "mrd", "bn", "mil millones", "مليار"),
        (9,),
    ),
    # English and German disagree.
    "billion": (9, 12),
    "billions": (9,),
    **dict.fromkeys(
        ("billionen", "billón", "billones", "trillion", "trillions", "tn", "تريليون"), (12,)
    ),
}
"""Powers of ten by word, in lower case."""

WORDS: dict[str, str] = {
    word: str(value)
    for value, group in enumerate(
        (
            "zero null cero zéro",
            "eins",
            "two zwei dos deux",
            "three drei tres trois",
            "four vier cuatro quatre",
            "five fünf cinco cinq",
            "six sechs seis",
            "seven sieben siete sept",
            "eight acht ocho huit",
            "nine neun nueve neuf",
            "ten zehn diez dix",
            "eleven elf onze",
            "twelve zwölf doce douze",
        )
    )
    for word in group.split()
}
"""Values of spelled-out numbers. Words that are more often something else (one, un, the
Spanish eleven) are left out.
"""

HAN: dict[str, str] = {sign: str(value) for value, sign in enumerate("二三四五六七八九十", 2)} | {
    "两": "2"
}
"""Values of the Han numerals that stand alone."""
