"""Texts as vectors, each embedded once and kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragablate import codec
from ragablate.embed.encoder import Encoder, Role
from ragablate.embed.models import model_identity
from ragablate.embed.progress import progress
from ragablate.embed.runtime import runtime_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragablate.embed.vectors import Rows, Vectors

_FORMAT = 1
_FLUSH_S = 20.0
_STEP = 64


class Embedder:
    """A model with everything it embedded before, under ``runtime.cache`` or in memory.

    A vector is kept by the model's files or commit, the libraries' versions, length,
    normalisation, role, prompt and text; the model is loaded only where one is missing.

    Args:
        model: As for ``models.locate``.
        revision: As for ``models.locate``.
        max_seq_length: Longest text in the model's tokens; ``None`` is the model's own limit.
        normalize: Whether vectors are scaled to length 1.
        runtime: Knobs of ``Runtime``.
    """

    def __init__(
        self,
        model: str,
        revision: str | None = None,
        max_seq_length: int | None = None,
        normalize: bool = True,
        runtime: Mapping[str, object] | None = None,
    ) -> None:
        self.runtime = runtime_of(runtime)
        self.encoder = Encoder(model, revision, max_seq_length, normalize, self.runtime)
        self._vectors: Vectors | None = None

    def embed(self, role: Role, prompt: str, texts: Sequence[str]) -> Rows:
        """One row a text; texts that are equal share a vector.

        Raises:
            AdapterError: The model cannot be loaded, or gives what is not a number.
            StoreError: The cache cannot be read or written.
        """
        keys = [bytes.fromhex(codec.digest_texts([(role, prompt, text)])) for text in texts]
        vectors = self._open()
        if vectors.missing(keys):
            with vectors.writing():
                vectors.refresh()
                positions = vectors.missing(keys)
                if positions:
                    self._fill(
                        vectors,
                        role,
                        prompt,
                        [keys[i] for i in positions],
                        [texts[i] for i in positions],
                    )
        return vectors.rows(keys)

    def close(self) -> None:
        """Give the model's memory back."""
        self.encoder.close()

    def _fill(
        self,
        vectors: Vectors,
        role: Role,
        prompt: str,
        keys: Sequence[bytes],
        texts: Sequence[str],
    ) -> None:
        import numpy as np

        step = max(_STEP, 4 * self.encoder.batch_size)
        pending: list[NDArray[np.float32]] = []
        kept = done = 0
        flushed = time.monotonic()
        with progress("embedding", len(texts)) as advance:
            try:
                for start in range(0, len(texts), step):
                    part = texts[start : start + step]
                    pending.append(self.encoder.encode(role, prompt, part))
                    done += len(part)
                    advance(len(part))
                    if time.monotonic() - flushed > _FLUSH_S:
                        vectors.add(keys[kept:done], np.concatenate(pending))
                        pending, kept, flushed = [], done, time.monotonic()
            finally:
                if pending:
                    vectors.add(keys[kept:done], np.concatenate(pending))

    def _open(self) -> Vectors:
        if self._vectors is None:
            from ragablate.embed.vectors import Vectors

            self._vectors = Vectors(self._folder())
            self._vectors.refresh()
        return self._vectors

    def _folder(self) -> Path | None:
        """The folder of this model's vectors, with a note of what they are."""
        if self.runtime.cache is None:
            return None
        encoder = self.encoder
        what = {
            "format": _FORMAT,
            "max_seq_length": encoder.max_seq_length,
            "model": encoder.model,
            "normalize": encoder.normalize,
        } | model_identity(encoder.model, encoder.revision, self.runtime.cache)
        folder = Path(self.runtime.cache).expanduser() / codec.digest(what)[:24]
        # The note is for people; vectors are found without it.
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / "model.json").open("x", encoding="utf-8") as note:
                note.write(codec.pretty(what | {"name": encoder.model}))
        return folder
