"""Gates: candidates, retrieved → go, refuse, clarify or broaden."""
