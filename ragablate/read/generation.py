"""Writing texts with a transformers model so that a batch writes what each prompt alone does.

A batch changes the last bits of every logit, and where two tokens are all but equally likely
that can turn the text. While a batch is decoded, every choice is therefore checked to hold by
more than rounding; a text with one that does not is written again alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessorList,
)

from ragablate.embed.loading import quiet, threads
from ragablate.errors import AdapterError
from ragablate.functions import one_line
from ragablate.read.choosing import Chooser
from ragablate.records import Failure

_Asked = tuple[Sequence[int], int]
_LIMITS = ("max_position_embeddings", "n_positions", "max_sequence_length")


@dataclass(frozen=True, slots=True)
class Decoding:
    """How texts are written."""

    max_tokens: int
    """Longest text."""
    temperature: float
    """0 takes the likeliest token."""
    top_p: float
    """Share of the probability drawn from."""
    stop: tuple[str, ...]
    """Texts that end one."""
    batch_size: int
    """Prompts a step."""
    threads: int | None
    """Of a CPU."""


@dataclass(frozen=True, slots=True)
class Written:
    """A text."""

    text: str
    """Without what ended it."""
    finish: str
    """``stop`` or ``length``."""
    prompt_tokens: int
    """Of the prompt."""
    completion_tokens: int
    """Of the text and its end."""
    latency_s: float
    """Seconds its batch took, and its own second decode where there was one."""


class Model:
    """A loaded model with its tokenizer.

    Args:
        folder: Where it lies.
        dtype: Of its weights.
        device: Where it runs.
        decoding: How it writes.

    Raises:
        AdapterError: It cannot be loaded.
    """

    def __init__(self, folder: Path, dtype: str, device: str, decoding: Decoding) -> None:
        self._decoding = decoding
        try:
            with quiet():
                config = AutoConfig.from_pretrained(folder, local_files_only=True)
                self._paired = bool(getattr(config, "is_encoder_decoder", False))
                make: Any = AutoModelForSeq2SeqLM if self._paired else AutoModelForCausalLM
                self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
                kind = getattr(torch, dtype)
                model = make.from_pretrained(folder, local_files_only=True, dtype=kind)
                self._model: Any = model.to(device).eval()
        except Exception as error:
            raise AdapterError(
                f"reader: the model cannot be loaded from {folder}: {one_line(error)}"
            ) from error
        self._ends = self._ending()
        self._pad = self._padding()
        given = (getattr(config, name, None) for name in _LIMITS)
        self.context: int | None = next((n for n in given if isinstance(n, int) and n > 0), None)
        """Tokens it has places for; of prompt and answer together where it is causal."""

    def tokens(self, messages: Sequence[Mapping[str, str]], chat: bool) -> list[int]:
        """A prompt as the model reads it.

        Raises:
            AdapterError: The model's chat template takes no such messages.
        """
        tokenizer = self._tokenizer
        if not chat or not tokenizer.chat_template:
            text = "\n\n".join(message["content"] for message in messages)
            return list(tokenizer(text)["input_ids"])
        try:
            text = self._chat(messages)
        except Exception:  # a template that takes no system message raises what it likes
            joined = "\n\n".join(message["content"] for message in messages)
            try:
                text = self._chat([{"role": "user", "content": joined}])
            except Exception as error:
                raise AdapterError(
                    f"reader: the model's chat template takes no message: {one_line(error)}; "
                    "give reader.chat_template=false"
                ) from error
        # The template has put in every special token there is to be.
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    def room(self, prompt_tokens: int) -> int:
        """The longest text that a prompt leaves place for; 0 or less for none."""
        if self.context is None:
            return self._decoding.max_tokens
        if self._paired:
            # The answer has places of its own.
            return self._decoding.max_tokens if prompt_tokens <= self.context else 0
        return min(self._decoding.max_tokens, self.context - prompt_tokens)

    def write(self, asked: Sequence[_Asked]) -> Iterator[tuple[int, Written | Failure]]:
        """The text for each prompt with its seed, by its number, as batches are done."""
        full = self._decoding.max_tokens
        lengths = [len(tokens) for tokens, _ in asked]
        order = sorted(range(len(asked)), key=lambda n: (lengths[n], n))
        # What has less room than the others would end them too.
        alone = [n for n in order if self.room(lengths[n]) < full]
        together = [n for n in order if self.room(lengths[n]) >= full]
        size = self._decoding.batch_size
        batches = [together[i : i + size] for i in range(0, len(together), size)]
        for batch in [*batches, *([n] for n in alone)]:
            with ExitStack() as limits:
                # Not held while the consumer is busy, who may want other threads.
                if self._decoding.threads is not None:
                    limits.enter_context(threads(self._decoding.threads))
                written = self._written([asked[n] for n in batch])
            yield from zip(batch, written, strict=True)

    def _written(self, batch: Sequence[_Asked]) -> list[Written | Failure]:
        try:
            found, sure = self._decode(batch)
            return [
                text if certain else self._again(text, one)
                for text, certain, one in zip(found, sure, batch, strict=True)
            ]
        except torch.OutOfMemoryError:
            reason = "the device has too little memory for a batch: lower runtime.batch_size"
            return [Failure("infrastructure", reason)] * len(batch)

    def _again(self, text: Written, asked: _Asked) -> Written:
        (alone,), _ = self._decode([asked])
        return Written(
            alone.text,
            alone.finish,
            alone.prompt_tokens,
            alone.completion_tokens,
            alone.latency_s + text.latency_s,
        )

    def _decode(self, batch: Sequence[_Asked]) -> tuple[list[Written], list[bool]]:
        """The texts of a batch, and which of them rounding cannot have turned."""
        start = time.perf_counter()
        ids, mask = self._padded([tokens for tokens, _ in batch])
        chooser = Chooser(
            [seed for _, seed in batch],
            self._decoding.temperature,
            self._decoding.top_p,
            {*self._ends, self._pad},
        )
        stop = self._decoding.stop
        with torch.inference_mode():
            output = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=self._plain(min(self.room(len(t)) for t, _ in batch)),
                logits_processor=LogitsProcessorList([chooser]),
                **({"stop_strings": list(stop), "tokenizer": self._tokenizer} if stop else {}),
            )
        new = output[:, 1:] if self._paired else output[:, ids.shape[1] :]
        took = time.perf_counter() - start
        found = [
            self._text(row, len(tokens), took)
            for row, (tokens, _) in zip(new.tolist(), batch, strict=True)
        ]
        sure = [True] if len(batch) == 1 else chooser.sure()
        return found, sure

    def _text(self, row: Sequence[int], prompt_tokens: int, took: float) -> Written:
        end = next((i for i, token in enumerate(row) if token in self._ends), None)
        kept = row[:end] if end is not None else self._unpadded(row)
        text = self._tokenizer.decode(kept, skip_special_tokens=True).strip()
        cuts = [at for at in map(text.find, self._decoding.stop) if at >= 0]
        finish = "stop" if end is not None or cuts else "length"
        count = len(kept) + (end is not None)
        return Written(
            text[: min(cuts)].strip() if cuts else text, finish, prompt_tokens, count, took
        )

    def _unpadded(self, row: Sequence[int]) -> Sequence[int]:
        """A text that ended at one of the stop texts, before others of its batch."""
        end = len(row)
        while end and row[end - 1] == self._pad:
            end -= 1
        return row[:end]

    def _padded(self, prompts: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Ids and mask [prompts, longest]: padding on the left where the text follows there."""
        width = max(map(len, prompts))
        ids = torch.full((len(prompts), width), self._pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, tokens in enumerate(prompts):
            where = slice(0, len(tokens)) if self._paired else slice(width - len(tokens), width)
            ids[row, where] = torch.tensor(list(tokens), dtype=torch.long)
            mask[row, where] = 1
        return ids.to(self._model.device), mask.to(self._model.device)

    def _plain(self, room: int) -> Any:
        """Nothing of what the model's files would set, its tokens apart."""
        given = self._model.generation_config
        start = given.decoder_start_token_id
        if start is None:
            start = getattr(self._model.config, "decoder_start_token_id", None)
        make: Any = GenerationConfig
        return make(
            max_new_tokens=room,
            do_sample=False,
            num_beams=1,
            eos_token_id=sorted(self._ends) or None,
            pad_token_id=self._pad,
            bos_token_id=given.bos_token_id,
            decoder_start_token_id=start,
            forced_bos_token_id=given.forced_bos_token_id,
            use_cache=True,
        )

    def _ending(self) -> set[int]:
        """Tokens that end a text, by the model's files and its tokenizer's."""
        given = self._model.generation_config.eos_token_id
        several = given if isinstance(given, list | tuple) else [given]
        found = {int(token) for token in several if token is not None}
        own = self._tokenizer.eos_token_id
        return found | ({int(own)} if own is not None else set())

    def _padding(self) -> int:
        pad = self._tokenizer.pad_token_id
        return int(pad) if pad is not None else min(self._ends, default=0)

    def _chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        text = self._tokenizer.apply_chat_template(
            [dict(message) for message in messages], tokenize=False, add_generation_prompt=True
        )
        return str(text)
