"""Runners that reorder tests by a seed of their own: whole orders only, read from what the runner reports."""
