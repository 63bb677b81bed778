"""One run: how it ended, what each of its failing tests is, and the last green run before it."""
