"""What helps a person at the table: the best move and why, where hidden cards may lie, and what a game could teach.

All of it is made from worlds of the person's seat, drawn by a seed of the caller's own: asking changes no game.
"""
