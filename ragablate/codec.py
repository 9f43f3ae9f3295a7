"""Canonical JSON of records, and digests over it.

Equal records give equal bytes: keys are sorted, floats are written by their shortest
round-trip form, and NaN is refused rather than turned into ``null``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any, TypeVar, cast

import msgspec

T = TypeVar("T")

_ENCODER = msgspec.json.Encoder(order="sorted")


def encode(value: Any) -> bytes:
    """Canonical JSON bytes of a record, a container of records or plain values."""
    return _ENCODER.encode(value)


def decode(data: bytes | str, kind: type[T]) -> T:
    """Rebuild a value of type ``kind``; raises ``msgspec.MsgspecError`` where it does not fit."""
    decoder: msgspec.json.Decoder[T] = _decoder(cast(Hashable, kind))
    return decoder.decode(data)


@lru_cache(maxsize=256)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def plain(value: Any) -> Any:
    """The JSON-compatible form (dicts, lists, scalars) of a record."""
    return msgspec.to_builtins(value)


def pretty(value: Any) -> str:
    """Indented canonical JSON for files people read; raises ValueError on NaN or infinity."""
    return (
        json.dumps(plain(value), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        + "\n"
    )


def digest(*values: Any) -> str:
    """sha256 over the canonical JSON of ``values``, in hexadecimal."""
    return hashlib.sha256(encode(values)).hexdigest()


def digest_texts(texts: Iterable[tuple[str, ...]]) -> str:
    """sha256 over an ordered sequence of string tuples, unambiguous in where each ends."""
    h = hashlib.sha256()
    for group in texts:
        for text in group:
            data = text.encode("utf-8", "surrogatepass")
            h.update(len(data).to_bytes(8, "big"))
            h.update(data)
        h.update(b"\xff")
    return h.hexdigest()


def finite(value: float | None, where: str) -> float | None:
    """``value`` unchanged; raises ValueError naming ``where`` if it is NaN or infinite."""
    if value is not None and not math.isfinite(value):
        raise ValueError(f"{where} is {value}, not a finite number")
    return value
