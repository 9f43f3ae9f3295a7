"""The errors a user can meet, each one sentence: what, where, what to do.

    RagablateError
    ├── DesignError      the experiment asks for something that is not one change
    ├── DatasetError     questions, corpus and gold do not agree
    ├── AdapterError     an adapter broke its contract or cannot be built
    ├── MissingExtra     an optional dependency is absent
    ├── StoreError       stored results cannot be read or written
    ├── BudgetError      a limit of what may be spent is reached
    ├── EvidenceError    the answers collected so far cannot carry the comparison
    │   └── NoAnswers    because every one of them failed
    └── BundleError      a bundle does not hold what it claims

``exit_code`` is what the command line returns: 2 where the request is wrong, 1 where
something failed while running and what was finished is kept.
"""

from __future__ import annotations

from collections.abc import Sequence


class RagablateError(Exception):
    """Base of every error that is reported as a sentence, without a traceback."""

    exit_code = 2


class ProblemsError(RagablateError):
    """All problems found in one plan, reported together.

    Args:
        problems: One sentence each, in the order they were found.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class DesignError(ProblemsError):
    """The experiment asks for something that is not one change."""


class DatasetError(ProblemsError):
    """Questions, corpus and gold do not agree, or a data file cannot be read."""


class AdapterError(RagablateError):
    """An adapter broke its contract or cannot be built."""


class MissingExtra(RagablateError):  # noqa: N818
    """An optional dependency is absent.

    Args:
        package: Distribution that is missing.
        extra: Extra of ragablate that brings it.
        what: The component that needs it.
    """

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(
            f"{what} needs the package '{package}', which is not installed: "
            f"pip install 'ragablate[{extra}]'"
        )


class StoreError(RagablateError):
    """Stored results cannot be read or written."""

    exit_code = 1


class BudgetError(RagablateError):
    """A limit of what an execution may spend is reached; finished work is kept."""

    exit_code = 1


class EvidenceError(RagablateError):
    """The answers collected so far cannot carry the comparison that was asked for."""


class NoAnswers(EvidenceError):  # noqa: N818
    """Every answer that a comparison needs has failed, for a reason that can be removed."""

    exit_code = 1


class BundleError(RagablateError):
    """A bundle does not hold what it claims."""
