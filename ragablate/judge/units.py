"""The unit that stands next to a figure."""

from __future__ import annotations

import re
from functools import lru_cache

_NAMES: dict[str, dict[str, str]] = {
    "length": {
        "km": "km kilometre kilometres kilometer kilometers kilometern kilómetro kilómetros "
        "kilomètre kilomètres 公里 千米 كم كيلومتر كيلومترا",
        "m": "m metre metres meter meters metern metro metros mètre mètres 米 متر مترا أمتار",
        "cm": "cm centimetre centimetres centimeter centimeters zentimeter 厘米",
        "mm": "mm millimetre millimetres millimeter millimeters 毫米",
        "mile": "mile miles mi meile meilen milla millas 英里 ميل أميال",
        "foot": "foot feet ft fuß 英尺",
        "inch": "inch inches zoll pulgada pulgadas pouces 英寸",
    },
    "mass": {
        "kg": "kg kilo kilos kilogram kilograms kilogramm kilogramo kilogramos kilogrammes 公斤 "
        "千克",
        "g": "g gram grams gramm gramo gramos grammes 克",
        "mg": "mg milligram milligrams milligramm 毫克",
        "t": "t ton tons tonne tonnes tonnen tonelada toneladas 吨",
    },
    "time": {
        "second": "second seconds sec sekunde sekunden segundo segundos seconde secondes 秒",
        "minute": "minute minutes min minuten minuto minutos 分钟 دقيقة دقائق",
        "hour": "hour hours h hr hrs stunde stunden hora horas heure heures 小时 ساعة ساعات",
        "day": "day days tag tage tagen día días jour jours 天 يوم أيام",
        "week": "week weeks woche wochen semana semanas semaine semaines 周 أسبوع أسابيع",
        "month": "month months monat monate monaten mes meses mois 个月 شهر أشهر",
        "year": "year years yr yrs jahr jahre jahren año años an ans année années 年 سنة سنوات",
    },
    "money": {
        "EUR": "€ eur euro euros 欧元 يورو",
        "USD": "$ us$ usd dollar dollars dólar dólares 美元 دولار",
        "GBP": "£ gbp 英镑",
        "JPY": "jpy yen 日元",
        "CNY": "cny rmb yuan 元 人民币",
        "CHF": "chf franken",
    },
    "data": {
        "kB": "kb kilobyte kilobytes",
        "MB": "mb megabyte megabytes",
        "GB": "gb gigabyte gigabytes",
        "TB": "tb terabyte terabytes",
    },
    "temperature": {"°C": "°c celsius 摄氏度", "°F": "°f fahrenheit 华氏度"},
    "power": {"W": "w watt watts", "kW": "kw kilowatt kilowatts", "MW": "megawatt megawatts"},
}
_KINDS = {unit: kind for kind, units in _NAMES.items() for unit in units}
_UNITS = {
    form: unit
    for units in _NAMES.values()
    for unit, forms in units.items()
    for form in forms.split()
}
_RANGE = r"(?:\s?(?:to|or|bis|oder|a|à|ou|[-–—~]|至|到)\s?\d+(?:[.,]\d+)*)?"
_OF = r"(?:working|business|calendar|square|cubic|degrees?|us|grad|werk)"


def unit_beside(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The unit of the figure ``text[start:end]``, and where the two together begin and end.

    The unit comes in one spelling; empty where none is known. It follows the figure, a word such
    as ``working`` or the other end of a range between them, or is a sign of money before it. A
    name that money and mass share (pound) is no unit here.
    """
    after = _after().match(text, end)
    if after:
        return _UNITS[after["unit"].casefold()], start, after.end()
    before = text[:start].rstrip()
    if before[-1:] in ("$", "€", "£"):
        return _UNITS[before[-1]], len(before) - 1, end
    return "", start, end


def same_kind(unit: str, other: str) -> bool:
    """Whether two units measure the same thing: both a time, both money."""
    return _KINDS.get(unit) == _KINDS.get(other)


@lru_cache(maxsize=1)
def _after() -> re.Pattern[str]:
    forms = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
    return re.compile(
        rf"{_RANGE}[\s\u00a0-]{{0,2}}(?:{_OF}[\s-])?(?P<unit>{forms})(?![A-Za-z\u00c0-\u024f\u0600-\u06ff])",
        re.IGNORECASE,
    )
