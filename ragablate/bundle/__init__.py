"""The folder of evidence an execution leaves: writing, reading and verifying it."""

from ragablate.bundle.read import Bundle, load
from ragablate.bundle.write import Contents, write

__all__ = ["Bundle", "Contents", "load", "write"]
