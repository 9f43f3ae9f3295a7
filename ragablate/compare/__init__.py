"""Effects, verdicts and sentences: what a study shows and how strongly it may be said."""

from ragablate.compare.comparison import compare
from ragablate.compare.record import claim_record

__all__ = ["claim_record", "compare"]
