"""Sources of questions, gold and what is searched, and what identifies them."""
