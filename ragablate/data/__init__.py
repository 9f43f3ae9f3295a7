"""Data that ship with the package, reached as ``pkg://ragablate.data/...``."""
