"""Played games as data: they are recorded, simulated by self-play, and replayed into datasets for training."""
