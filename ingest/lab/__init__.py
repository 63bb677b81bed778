"""Experiments: runs made on purpose, kept apart from what CI sent."""
