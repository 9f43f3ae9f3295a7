"""Rerankers: candidates → retrieved."""
