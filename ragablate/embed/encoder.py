"""A sentence-transformers model that turns texts into vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ragablate.embed.loading import check_length, load, threads
from ragablate.embed.models import locate
from ragablate.embed.runtime import Runtime
from ragablate.embed.texts import well_formed
from ragablate.errors import AdapterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Role = Literal["query", "passage"]
"""What a text is; models with separate towers embed the two by different ones."""


class Encoder:
    """Texts as vectors of single precision, the model loaded on first use.

    On a CPU every text is by default a batch of its own and one thread works on it. A vector
    then does not depend on the texts embedded with it, to the last bit; padding and splitting
    work over threads would move the seventh digit.

    Args:
        model: As for ``models.locate``.
        revision: As for ``models.locate``.
        max_seq_length: Longest text in the model's tokens, longer ones are cut; ``None`` is
            the model's own limit.
        normalize: Whether vectors are scaled to length 1.
        runtime: How it is run.
    """

    def __init__(
        self,
        model: str,
        revision: str | None,
        max_seq_length: int | None,
        normalize: bool,
        runtime: Runtime,
    ) -> None:
        self.model = model
        self.revision = revision
        self.max_seq_length = max_seq_length
        self.normalize = normalize
        self.runtime = runtime
        self._loaded: Any = None

    def encode(self, role: Role, prompt: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text.

        Args:
            role: What the texts are.
            prompt: Put before each of them; prompts of the model's own are not used.
            texts: May be empty strings.

        Raises:
            AdapterError: The model cannot be loaded, or gives what is not a number.
        """
        import numpy as np

        model = self._ready()
        method = model.encode_query if role == "query" else model.encode_document
        with threads(self.runtime.threads):
            vectors = method(
                [well_formed(text) for text in texts],
                prompt=prompt,
                batch_size=self.batch_size,
                show_progress_bar=False,
                normalize_embeddings=self.normalize,
            )
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if broken.size:
            raise AdapterError(
                f"the model '{self.model}' embeds a {role} as something that is not a number: "
                f"'{texts[broken[0]][:80]}'"
            )
        return vectors

    def tokens(self, prompt: str, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """One matrix a text: a row of length 1 a token, those special to the model left out.

        Every text is a batch of its own. What a network gives before its tokens are pooled is
        taken, which few models are trained to compare.

        Args:
            prompt: Put before each text, and embedded with it.
            texts: An empty one has no row.

        Raises:
            AdapterError: The model cannot be loaded.
        """
        import numpy as np
        import torch

        model = self._ready()
        prepare = getattr(model, "preprocess", None) or model.tokenize
        special = torch.tensor(model.tokenizer.all_special_ids)
        with threads(self.runtime.threads), torch.inference_mode():
            for text in texts:
                given = prepare([prompt + well_formed(text)])
                features = {k: v.to(model.device) for k, v in given.items() if hasattr(v, "to")}
                rows = model[0](features)["token_embeddings"][0]
                kept = ~torch.isin(features["input_ids"][0].cpu(), special)
                found = rows[kept.to(rows.device)].float().cpu().numpy()
                lengths = np.linalg.norm(found, axis=1, keepdims=True)
                yield np.ascontiguousarray(found / np.maximum(lengths, 1e-12), dtype=np.float32)

    @property
    def batch_size(self) -> int:
        """Texts a step."""
        if self.runtime.batch_size is not None:
            return self.runtime.batch_size
        return 1 if self._ready().device.type == "cpu" else 64

    def close(self) -> None:
        """Give the memory back."""
        self._loaded = None

    def _ready(self) -> Any:
        if self._loaded is None:
            from sentence_transformers import SentenceTransformer

            located = locate(self.model, self.revision)
            model = load(self.model, located, SentenceTransformer, device=self.runtime.device)
            if self.max_seq_length is not None:
                network = getattr(model[0], "auto_model", None)
                check_length(self.model, network, self.max_seq_length, "max_seq_length")
                model.max_seq_length = self.max_seq_length
            self._loaded = model
        return self._loaded
