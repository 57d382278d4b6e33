"""Guests: folders that bring verbs and agents by entry points, and may be deleted without a word changed elsewhere."""
