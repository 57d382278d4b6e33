"""Statistics that know no table: deals and rotations, estimates with intervals, ratings, how reports are written."""
