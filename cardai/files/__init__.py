"""Files: how they are read within limits, written whole, and kept for one process at a time."""
