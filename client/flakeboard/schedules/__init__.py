"""Schedules: which of the collected tests run here, and in which order. The server knows durations, failures and
dependencies; what it answers is checked before it is obeyed."""
