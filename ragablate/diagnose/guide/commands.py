"""The experiments that would prove a finding, as commands over the log at hand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_BARE = re.compile(r"[\w/.@:+-]+")
_NAMED = (
    "qid", "question", "answer", "retrieved", "context", "prompt_pids", "references", "gold_ids",
    "gold_texts", "answerable", "verdict",
)  # fmt: skip
"""Fields that conf/dataset/traces.yaml names; others are added to it."""
_RANKED = "assembler=ranked"
_SEARCHED = ("retriever=bm25", _RANKED)
_DENSE = ("retriever=dense", _RANKED)
_GATE = "experiment.swap_gate"

_PROOFS: Mapping[str, tuple[tuple[str, bool, tuple[str, ...]], ...]] = {
    "F1": (("run", True, (*_DENSE, "experiment=swap_retriever",
            "experiment.swap_retriever.treatments=[{hybrid: ['retriever=hybrid', "
            "'retriever@retriever.retrievers.dense=dense']}]")),),
    "F2": (("run", True, ("dataset.unit=documents", *_SEARCHED, "experiment=swap_chunker",
            "experiment.swap_chunker.treatments=[sentence,parent]")),),
    "F3": (("run", True, (*_SEARCHED, "experiment=swap_rewriter",
            "experiment.swap_rewriter.treatments=[last_turn_concat,standalone]")),),
    "F4": (("run", False, (_RANKED, "experiment=swap_reranker",
            "experiment.swap_reranker.treatments=[status,dedupe_versions]")),),
    "F5": (("run", False, (_RANKED, "experiment=swap_reranker",
            "experiment.swap_reranker.treatments=[mmr]")),
           ("run", True, (*_DENSE, "experiment=swap_retriever",
            "experiment.swap_retriever.variable=retriever.normalize",
            "experiment.swap_retriever.treatments=[false]"))),
    "F6": (("run", True, ("experiment=oracle_context",)),),
    "F7": (("run", True, ("retriever=logged", _RANKED, "experiment=swap_retriever",
            "experiment.swap_retriever.treatments=[{exhaustive: ['retriever=bm25', "
            "'retriever.apply_filter=true']}]")),),
    "F8": (("run", True, (*_SEARCHED, "experiment=swap_rewriter",
            "experiment.swap_rewriter.treatments=[decompose]")),),
    "cut": (("run", False, (_RANKED, "experiment=swap_assembler",
             "experiment.swap_assembler.treatments=[1500]")),),
    "F9": (("calibrate", True, _SEARCHED),
           ("run", True, (*_SEARCHED, "hydra.searchpath=[file://outputs/calibration]",
            "experiment=swap_gate",
            f"+{_GATE}.treatments.calibrated=['gate=calibrated_floor']"))),
    "F10": (("run", False, ("experiment=swap_reader", "experiment.swap_reader.treatments="
             "[{strict: ['reader.prompt=strict']}, {cite: ['reader.prompt=cite']}, "
             "{question_last: ['reader.prompt=question_last']}]")),),
    "distractor": (("run", False, ("experiment=oracle_context",)),),
    "F11": (("run", False, ("experiment=swap_reader", "experiment.swap_reader.treatments="
             "[{quote: ['reader.prompt=quote']}]")),
            ("run", False, (_RANKED, "experiment=swap_assembler",
             "experiment.swap_assembler.variable=assembler.order",
             "experiment.swap_assembler.treatments=[sides]"))),
    "F12": (("run", False, (_RANKED, "experiment=swap_assembler",
             "experiment.swap_assembler.variable=assembler.clean",
             "experiment.swap_assembler.treatments=[true]")),
            ("run", False, ("experiment=swap_reader", "experiment.swap_reader.treatments="
             "[{sources_are_data: ['reader.prompt=sources_are_data']}]"))),
}  # fmt: skip
"""By mode: the verb, whether it searches the corpus, and the overrides that follow the data."""


@dataclass(frozen=True, slots=True)
class Control:
    """A pipeline of ours, on which an experiment is to be run."""

    overrides: tuple[str, ...]
    """What it was composed from."""
    choices: Mapping[str, str]
    """The option chosen in every config group."""

    def words(self, verb: str, rest: Sequence[str]) -> list[str]:
        """Overrides of an experiment on it.

        A stage that an experiment over a log has to set is the pipeline's own already. Where its
        reader has no prompt to vary, or its data no documents to cut, a word in capitals stands
        for what has to be given.
        """
        own = [o for o in self.overrides if _key(o).split(".")[0] not in _NOT_OURS]
        asked = [word for word in rest if word != _RANKED]
        if "dataset.unit=documents" in asked and "dataset.unit=documents" in own:
            asked.remove("dataset.unit=documents")
        if "dataset.unit=documents" in asked:
            own = ["dataset=jsonl", "dataset.path=DOCUMENTS", *_without(own, "dataset")]
        for word in [w for w in asked if w.startswith("retriever=")]:
            if word != "retriever=dense" or self.choices.get("retriever") in _EMBEDDING:
                asked.remove(word)
            else:
                own = _without(own, "retriever")
        prompted = self.choices.get("reader") in _PROMPTED
        if verb == "run" and not prompted and any("reader.prompt" in word for word in asked):
            own = [*_without(own, "reader"), *_chat("MODEL")]
        return [*own, *asked]


_NOT_OURS = ("experiment", "outputs", "quiet", "json", "name", "labels", "confirmation")
_EMBEDDING = ("dense", "hybrid", "multi_vector")
_PROMPTED = ("openai_chat", "litellm", "llama_cpp", "smollm2", "transformers")


def _key(override: str) -> str:
    return override.lstrip("+~").split("=", 1)[0].split("@")[0]


def _without(overrides: Sequence[str], group: str) -> list[str]:
    return [o for o in overrides if _key(o).split(".")[0] != group]


@dataclass(frozen=True, slots=True)
class Commands:
    """Writes the commands of a mode for one log."""

    log: str
    """The log's file."""
    format: str = "auto"
    """How it is read."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """By our name, the log's field."""
    corpus: str = "CORPUS"
    """The corpus' file; a word in its place where none is given."""
    model: str = "MODEL"
    """What answered, as the log has it."""
    control: Control | None = None
    """The pipeline that answered, where it is known to be one of ours."""

    def of(self, mode: str) -> tuple[str, ...]:
        """The commands, ready to be pasted into a shell."""
        return tuple(self._line(verb, searches, rest) for verb, searches, rest in _PROOFS[mode])

    def _line(self, verb: str, searches: bool, rest: tuple[str, ...]) -> str:
        if self.control is not None:
            words = self.control.words(verb, rest)
        else:
            words = [*self._over_log(verb, searches), *rest]
        return " ".join(map(_quoted, ["ragablate", verb, *words]))

    def _over_log(self, verb: str, searches: bool) -> list[str]:
        words = ["dataset=traces", f"dataset.path={_value(self.log)}"]
        if self.format != "auto":
            words.append(f"dataset.format={self.format}")
        for name, theirs in self.fields.items():
            plus = "" if name in _NAMED else "+"
            words.append(f"{plus}dataset.fields.{name}={_value(theirs)}")
        if searches or self.corpus != "CORPUS":
            words.append(f"dataset.corpus={_value(self.corpus)}")
        return [*words, *_chat(self.model)] if verb == "run" else words


def _chat(model: str) -> tuple[str, ...]:
    return (
        "reader=openai_chat", "reader.base_url=http://127.0.0.1:8000/v1",
        f"reader.model={_value(model)}",
    )  # fmt: skip


def _quoted(word: str) -> str:
    """A word for a shell, in double quotes where these read better."""
    plain = "'" in word and not re.search(r'["$`\\!]', word)
    return f'"{word}"' if plain else shlex.quote(word)


def _value(text: str) -> str:
    """A text as a value on Hydra's command line."""
    if _BARE.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
