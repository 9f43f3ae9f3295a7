"""Texts as vectors: where models lie, how texts are embedded, what is kept of it."""
