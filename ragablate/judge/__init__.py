"""trace + gold → verdicts: one judge a file, every one blind to the arm."""
