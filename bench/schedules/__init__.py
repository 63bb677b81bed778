"""Schedules measured: splits that sixteen shards ask for at once, schedules of large suites, the next order, and
selections judged by mutants."""

PARTS = ("speed", "splits", "mutants")
