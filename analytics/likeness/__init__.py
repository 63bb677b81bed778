"""Predictions of a project's tests: learnt anew with each analysis, kept until they are settled, never evidence."""
