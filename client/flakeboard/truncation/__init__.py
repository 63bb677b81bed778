"""Telling whether a run stopped before its last test."""
