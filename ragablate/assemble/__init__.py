"""Assemblers: retrieved → context."""
