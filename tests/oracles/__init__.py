"""Second implementations of games, from their rules alone: plain Python, slow, and independent of cardai."""
