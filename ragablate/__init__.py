"""ragablate: prove which stage of a RAG pipeline loses the answers."""

__version__ = "0.1.0"
