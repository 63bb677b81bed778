"""Flaky tests of known cause; see README.md."""
