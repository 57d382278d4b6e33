"""What the core can do without. Each guest is reached by entry points only, and may be deleted."""
