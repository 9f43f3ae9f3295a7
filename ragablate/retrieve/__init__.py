"""Retrievers: searches → candidates."""
