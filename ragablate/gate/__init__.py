"""Gates: candidates, retrieved → go, refuse or clarify."""
