"""Versions and words of the files of reach and of changes, which client and server share."""

from __future__ import annotations

REACH_VERSION = 1
CHANGES_VERSION = 1
CHILD, MANY, SKIPPED, SHARED = "child", "many files", "skipped", "another tool"
"""Why what a test used is not all known."""
