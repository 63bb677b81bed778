"""What a change touches, what is worth a rerun, and where to look for flaky tests that nobody knows."""
