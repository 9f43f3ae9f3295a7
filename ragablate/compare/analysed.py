"""What one analysis shows, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass

from ragablate.records import AnalysisResult, Conclusion, Effect


@dataclass(frozen=True, slots=True)
class Analysed:
    """What one analysis shows."""

    conclusion: Conclusion
    """Its verdict, under the id of the analysis."""
    result: AnalysisResult | None = None
    """Its terms; ``None`` where it is refused."""
    effects: tuple[Effect, ...] = ()
    """One a term that has a test, with the role ``term``, and what the verdict rests on."""
