"""Words that stand where a figure could."""

from __future__ import annotations

import re
from functools import lru_cache

_STEMS = (
    # English
    "small smaller large larger big bigger huge tiny vast few fewer several many numerous some "
    "most majority minority various multiple short shorter long longer brief cheap cheaper "
    "inexpensive affordable expensive low lower high higher quickly fast soon recent recently "
    "early late old significant significantly considerable considerably substantial substantially "
    "slight slightly sharply half third quarter dozens hundreds thousands millions billions "
    "couple handful lots plenty generous limited frequently often rarely sometimes decent modest "
    "modestly moderate moderately "
    # German
    "klein* groß* riesig* viele vielen wenige wenigen einige einigen mehrere mehreren kurz* lang "
    "lange langen günstig* billig* teuer* teure* hoch hohe hohen hoher niedrig* schnell* bald "
    "kürzlich früh* spät* erheblich* deutlich* leicht* stark* hälfte drittel viertel dutzende* "
    "hunderte* tausende* millionen mehrheit meisten zahlreich* "
    # Spanish
    "pequeñ* grande grandes much* poc* vari* algun* cort* larg* barat* caro cara caros caras alt* "
    "baj* rápid* pronto reciente* temprano mitad tercio mayoría cientos miles millones decenas "
    "numeros* "
    # French
    "petit* grand* gros* plusieurs beaucoup quelques court* longue longs bas basse haut* élevé* "
    "rapide* bientôt récent* récemment moitié tiers quart majorité plupart centaines milliers "
    "dizaines nombreu* "
    # Arabic
    "صغير* كبير* كثير* قليل* بعض عدة قصير* طويل* رخيص* مرتفع* منخفض* قريبا نصف ثلث ربع مئات آلاف "
    "ملايين معظم العديد عديد*"
)
_HAN = (
    "小型 大型 中型 许多 許多 很多 不少 少量 大量 少数 少數 多数 多數 一些 几个 幾個 若干 "
    "数十 数百 数千 數百 數千 一半 较短 较长 較短 較長 短期 长期 便宜 昂贵 昂貴 大部分 小部分 "
    "最近 不久 频繁 偶尔"
)


def vague_words(text: str) -> list[tuple[int, int]]:
    """Where words of size, number, time and cost stand that give no figure, in order."""
    return [match.span() for match in _pattern().finditer(text)]


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    words = "|".join(
        re.escape(word.rstrip("*")) + (r"\w{0,4}" if word.endswith("*") else "")
        for word in sorted(_STEMS.split(), key=len, reverse=True)
    )
    return re.compile(rf"\b(?:ال)?(?:{words})\b|{'|'.join(_HAN.split())}", re.IGNORECASE)
