"""Rewriters: question + history (+ results so far) → searches."""
