"""Arms that somebody else ran: compared by what their logs hold, as strongly as it allows."""

from ragablate.elsewhere.arms import Arms, Choice, compare_arms
from ragablate.elsewhere.buckets import buckets, moves_between

__all__ = ["Arms", "Choice", "buckets", "compare_arms", "moves_between"]
