"""Chunkers: documents → passages."""
