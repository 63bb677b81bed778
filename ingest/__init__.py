"""Reads, stores and looks up the reports that CI sends."""
