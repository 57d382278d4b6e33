"""Statistics that know no table: deals and rotations, estimates with intervals, ratings, the machine measured on."""
