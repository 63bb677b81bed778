"""What a run's failures have to do with its change, what to rerun, and where to look for unknown flaky tests."""
