"""Whole servers under load: web, broker, workers and beat as processes of their own."""
