"""The best passages that fit a token budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.assemble import rendering
from ragablate.assemble.cleaning import cleaned
from ragablate.assemble.duplicates import near_duplicates
from ragablate.errors import AdapterError
from ragablate.protocols import AssembleRequest
from ragablate.records import (
    Context,
    ContextPassage,
    Corpus,
    Evicted,
    Failure,
    Item,
    Passage,
    Ranking,
)
from ragablate.text.sentences import sentences
from ragablate.text.tokens import count_tokens, tokenizer_identity, tokenizer_problems, truncate

ORDERS = ("best_first", "best_last", "sides")
OVERFLOWS = ("stop", "skip", "truncate", "truncate_sentence")


class Ranked:
    """Passages by rank: near duplicates out, cut in number, filled up to a token budget.

    The three happen in this order, so a passage that the budget cuts has already made its
    near duplicates go. What stays is then put in prompt order. The budget counts the
    passages with their headers, not the reader's own words around them.

    Args:
        budget_tokens: Largest sum of the passages' tokens; ``None`` is unlimited.
        tokenizer: What a token is: ``words``, the path of a ``tokenizer.json`` or the name
            of a Hugging Face model.
        max_passages: Largest number of passages; ``None`` is unlimited.
        dedupe: Jaccard similarity of five-word shingles from which the worse of two
            passages goes; 1.0 takes equal texts only, ``None`` keeps all.
        order: ``best_first``, ``best_last``, or ``sides``: the best at the two ends, by
            rank 1, 3, 5, …, 6, 4, 2.
        overflow: What happens to the first passage that does not fit: ``stop`` cuts it and
            all after it; ``skip`` cuts it and tries the next ones; ``truncate`` cuts its
            end off, and all after it; ``truncate_sentence`` does so after a whole sentence.
        show_title: Whether the title stands in a line above the passage.
        show_meta: Metadata keys to print in a line above the passage.
        clean: Whether sentences that give orders to a model are taken out of passages, by the
            rules of ``ragablate.assemble.cleaning``; a passage of nothing else goes, too.
    """

    def __init__(  # noqa: PLR0913
        self,
        budget_tokens: int | None = 600,
        tokenizer: str = "words",
        max_passages: int | None = None,
        dedupe: float | None = 1.0,
        order: str = "best_first",
        overflow: str = "truncate",
        show_title: bool = True,
        show_meta: Sequence[str] = (),
        clean: bool = False,
    ) -> None:
        self.budget_tokens = budget_tokens
        self.tokenizer = tokenizer
        self.max_passages = max_passages
        self.dedupe = dedupe
        self.order = order
        self.overflow = overflow
        self.show_title = show_title
        self.show_meta = show_meta
        self.clean = clean
        self._rendered: dict[int, tuple[Passage, ContextPassage]] = {}

    def problems(self) -> list[str]:
        """Settings out of range, a tokenizer that is not there."""
        found = tokenizer_problems(self.tokenizer)
        if self.order not in ORDERS:
            found.append(f"order is '{self.order}': choose one of {', '.join(ORDERS)}")
        if self.overflow not in OVERFLOWS:
            found.append(f"overflow is '{self.overflow}': choose one of {', '.join(OVERFLOWS)}")
        if self.dedupe is not None and not 0 < self.dedupe <= 1:
            found.append(f"dedupe is {self.dedupe}: give a similarity above 0 up to 1, or null")
        if not isinstance(self.clean, bool):
            found.append(f"clean is {self.clean!r}: give true or false")
        for name in ("budget_tokens", "max_passages"):
            value = getattr(self, name)
            if value is not None and value < 0:
                found.append(f"{name} is {value}: give a number from 0, or null for no limit")
        return found

    def identity(self) -> dict[str, object]:
        """A tokenizer file by its digest."""
        return {"tokenizer": tokenizer_identity(self.tokenizer)}

    def render(self, passage: Passage) -> ContextPassage:
        """The passage under its header, in full but for what ``clean`` takes out."""
        # Many rankings name a passage, and all arms of a plan: it is rendered and kept once.
        known = self._rendered.get(id(passage))
        if known is None:
            knobs = (self.show_title, self.show_meta, self.tokenizer, self.clean)
            known = (passage, rendering.render(passage, *knobs))
            self._rendered[id(passage)] = known
        return known[1]

    def assemble(
        self, corpus: Corpus, requests: Sequence[AssembleRequest]
    ) -> Iterator[Item[Context]]:
        """One context a ranking; what is left out is listed in the ranking's order."""
        problems = self.problems()
        if problems:
            raise AdapterError(f"assembler: {problems[0]}")
        for request in requests:
            unknown = [hit.pid for hit in request.retrieved if hit.pid not in corpus.by_pid]
            if unknown:
                reason = f"the ranking names '{unknown[0]}', which is not in the corpus"
                yield Item(request.id, None, Failure("pipeline", reason))
            else:
                yield Item(request.id, self._assemble(corpus, request.retrieved))

    def _assemble(self, corpus: Corpus, retrieved: Ranking) -> Context:
        pids = dict.fromkeys(hit.pid for hit in retrieved)
        passages = [corpus.by_pid[pid] for pid in pids]
        reasons: dict[str, Evicted] = {}
        if self.dedupe is not None:
            for pid in near_duplicates(passages, self.dedupe):
                reasons[pid] = Evicted(pid, "deduped")
        for passage in passages if self.clean else []:
            if passage.text.strip() and not cleaned(passage.text)[0].strip():
                reasons.setdefault(passage.pid, Evicted(passage.pid, "cleaned"))
        distinct = [p for p in passages if p.pid not in reasons]
        for passage in distinct[self.max_passages :] if self.max_passages is not None else []:
            reasons[passage.pid] = Evicted(passage.pid, "depth_cut")
        kept = self._fill(distinct[: self.max_passages])
        inside = {p.pid for p in kept}
        for pid in pids:
            if pid not in inside and pid not in reasons:
                reasons[pid] = Evicted(pid, "budget_cut")
        evicted = tuple(reasons[pid] for pid in pids if pid in reasons)
        return Context(_ordered(kept, self.order), evicted, self.budget_tokens)

    def _fill(self, passages: Sequence[Passage]) -> list[ContextPassage]:
        """The passages that fit, best first."""
        if self.budget_tokens is None:
            return [self.render(p) for p in passages]
        kept: list[ContextPassage] = []
        left = self.budget_tokens
        for passage in passages:
            rendered = self.render(passage)
            if rendered.tokens <= left:
                kept.append(rendered)
                left -= rendered.tokens
            elif self.overflow != "skip":
                kept += self._cut(rendered, left)
                break
        return kept

    def _cut(self, full: ContextPassage, left: int) -> list[ContextPassage]:
        """The beginning of a passage that fits, or nothing."""
        if self.overflow == "stop":
            return []
        head = len(full.text) - len(full.body)
        body = truncate(full.text, left, self.tokenizer)[head:]
        ends = [len(body)]
        if self.overflow == "truncate_sentence":
            ends = [e for _, e in reversed(sentences(full.body)) if e <= len(body)]
        for end in ends:
            text = full.text[: head + end]
            tokens = count_tokens(text, self.tokenizer)
            if text[head:].strip() and tokens <= left:
                return [ContextPassage(full.pid, text, text[head:], True, tokens, full.removed)]
        return []


def _ordered(kept: Sequence[ContextPassage], order: str) -> tuple[ContextPassage, ...]:
    if order == "best_last":
        return tuple(reversed(kept))
    if order == "sides":
        return (*kept[0::2], *reversed(kept[1::2]))
    return tuple(kept)
