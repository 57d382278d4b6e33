"""Measurements: how well agents play, how large a game is, how fast it runs, what an agent thinks of a recorded game.

Results are plain data with `as_json()`; `cardai.cli.show` makes tables and figures of them.
"""
