"""A reader without a model: the sentence of the context that shares most with the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.errors import AdapterError
from ragablate.read.evidence import show, shown
from ragablate.read.matching import Matcher, Weights, candidates
from ragablate.records import Answer, Context, Item, Prompt, Question, ReadRequest
from ragablate.retrieve.analyze import Analyzer

_INSTRUCTION = (
    "Answer the question with sentences of the passages. If they do not answer it, say: {sentinel}"
)


class Extractive:
    """Verbatim sentences of the context, or an abstention below a floor.

    It knows nothing by heart, so closed book it always abstains. It cannot infer: yes/no
    questions and comparisons are beyond it. Sentences that score the same are taken in
    reading order.

    Args:
        floor: Score in [0, 1] below which a sentence does not answer.
        sentences: Largest number of sentences, best first.
        passage_weight: Credit for words of the question that stand in the sentence's passage
            or its title, but not in the sentence.
        bigram_weight: Share of adjacent word pairs in the score.
        position_bias: What sentences of the last passage lose against those of the first.
        language: Two-letter code of the language whose stems and stop words are used, or
            ``multilingual`` to compare words as they are.
        cite: Whether each sentence is followed by its passage's number, as in `` [2]``.
        sentinel: The abstention, verbatim.
    """

    def __init__(
        self,
        floor: float = 0.35,
        sentences: int = 2,
        passage_weight: float = 0.3,
        bigram_weight: float = 0.0,
        position_bias: float = 0.0,
        language: str = "en",
        cite: bool = True,
        sentinel: str = "The passages do not answer this question.",
    ) -> None:
        self.floor = floor
        self.sentences = sentences
        self.passage_weight = passage_weight
        self.bigram_weight = bigram_weight
        self.position_bias = position_bias
        self.language = language
        self.cite = cite
        self.sentinel = sentinel

    def problems(self) -> list[str]:
        """Settings out of range, a language without a stemmer."""
        found = self._analyzer().problems()
        for name in ("floor", "passage_weight", "bigram_weight", "position_bias"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                found.append(f"{name} is {value}: give a number from 0 to 1")
        if self.sentences < 1:
            found.append(f"sentences is {self.sentences}: give a number from 1")
        if not self.sentinel.strip():
            found.append("sentinel is blank: give the sentence that stands for an abstention")
        return found

    def identity(self) -> dict[str, object]:
        """The language with the stems and stop words that are installed for it."""
        return {"language": [self.language, self._analyzer().identity()]}

    def prompt(self, question: Question, context: Context) -> Prompt:
        """Instruction, numbered passages, earlier turns, question."""
        return show(question, context, _INSTRUCTION.format(sentinel=self.sentinel))

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """One answer a prompt; replicates and seeds change nothing."""
        problems = self.problems()
        if problems:
            raise AdapterError(f"reader: {problems[0]}")
        analyzer = self._analyzer()
        for request in requests:
            yield Item(request.id, self._answer(request.prompt, analyzer))

    def _analyzer(self) -> Analyzer:
        return Analyzer(language=self.language)

    def _answer(self, prompt: Prompt, analyzer: Analyzer) -> Answer:
        passages = shown(prompt)
        found = candidates(passages, analyzer)
        weights = Weights(self.passage_weight, self.bigram_weight, self.position_bias)
        matcher = Matcher(prompt.question, passages, found, analyzer, self.language)
        score = [matcher.score(candidate, weights) for candidate in found]
        order = sorted(range(len(found)), key=lambda i: (-score[i], i))
        best = [found[i] for i in order[: self.sentences] if score[i] >= self.floor and score[i]]
        if not best:
            return Answer(self.sentinel, abstained=True, model="extractive")
        cited = [c.text + (f" [{passages[c.passage].number}]" if self.cite else "") for c in best]
        return Answer(" ".join(cited), model="extractive")
