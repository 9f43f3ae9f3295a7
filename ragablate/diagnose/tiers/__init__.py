"""Causes by tier: from metrics alone, and, where a judge is asked for, from the texts."""
