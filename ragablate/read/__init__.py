"""Readers: question + context → prompt → answer."""
