"""The field guide: failed answers led to the failure mode their log speaks for, with evidence.

Everything here is suspected. What would prove it is the experiment named beside a finding.
"""

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.finding import Evidence, Finding
from ragablate.diagnose.guide.looking import Guided, look

__all__ = ["Case", "Cuts", "Evidence", "Finding", "Guided", "Known", "look"]
