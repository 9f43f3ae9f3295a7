"""Interventions: assembled context + gold → context."""
