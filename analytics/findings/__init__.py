"""Turns an analysis into stored findings: columns for all tests, and rows for those with evidence."""
