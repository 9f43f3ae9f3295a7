"""Tests, intervals and sizes on plain arrays: no arm, no question text, no pipeline."""
