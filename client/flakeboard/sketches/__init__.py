"""Sketches of tests: what is left of a test's source for comparing it with others, 256 numbers made with a key."""
