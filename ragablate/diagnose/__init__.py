"""What logs show by themselves: where a failure surfaced, never what brought it about.

* ``bucket`` sorts one answer by following its evidence from ranking to answer;
* ``observed_reasons`` says how evidence that is missing from a context got lost.
"""

from ragablate.diagnose.reasons import observed_reasons
from ragablate.diagnose.traversal import BUCKETS, bucket

__all__ = ["BUCKETS", "bucket", "observed_reasons"]
