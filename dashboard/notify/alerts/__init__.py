"""Alerts: what is decided after an analysis or by the clock, each once, and put into the queue of notifications."""
