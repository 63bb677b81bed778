"""Trends: what became of flakiness from week to week, of a project, a team or the instance."""
