"""The demo project: a simulated history, and what a team decided about it."""
