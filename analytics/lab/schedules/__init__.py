"""Orders, selections and splits of a suite: made from what the store knows of its tests, and splits kept."""
