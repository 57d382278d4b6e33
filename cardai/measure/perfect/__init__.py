"""How close agents come to perfect play: in whole small games, and in open endings of any game."""
