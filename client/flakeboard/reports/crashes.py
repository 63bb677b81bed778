"""Signs in a failure's text that the runner's process crashed, or its machine was full, rather than a test failing."""

from __future__ import annotations

import re

_DISK, _MEMORY = "the disk was full", "there was no memory left"
_MARKS = (
    (re.compile(r"^panic: [^\n]*$", re.M), re.compile(r"^goroutine [0-9]+ \[", re.M), "go test panicked"),
    (re.compile(r"^fatal error: [^\n]*$", re.M), re.compile(r"^goroutine [0-9]+ \[", re.M), "the Go runtime gave up"),
    (re.compile(r"worker 'gw[0-9]+' crashed while running"), None, "a worker of pytest crashed"),
    (re.compile(r"^Fatal Python error: ", re.M), None, "Python crashed"),
    (re.compile(r"^(?:failed on [a-z]+ with [\"']?|[ |]*E +)?[\w.]{0,99}MemoryError\b", re.M), None, _MEMORY),
    (re.compile(r"The forked VM terminated without (?:properly )?saying (?:properly )?goodbye"), None, "the JVM ended"),
    (re.compile(r"\bjava\.lang\.(?:OutOfMemory|StackOverflow|Internal|Unknown)Error\b"), None, "the JVM gave up"),
    (re.compile(r"jest-worker: Call retries were exceeded"), None, "a worker of Jest crashed"),
    (re.compile(r"A jest worker process [^\n]{0,80}was terminated"), None, "a worker of Jest crashed"),
    (re.compile(r"^SystemStackError\b", re.M), None, "Ruby gave up"),
    (re.compile(r"\bSystem\.OutOfMemoryException\b"), None, _MEMORY),
    (re.compile(r"(?<![\"'`])\b(?:no space left on device|not enough space on the disk)", re.I), None, _DISK),
    (re.compile(r"(?<![\"'`])\b(?:disk quota exceeded|ENOSPC: )", re.I), None, _DISK),
    (re.compile(r"(?<![\"'`])\b(?:cannot allocate memory|ENOMEM: )", re.I), None, _MEMORY),
)
"""A pattern, a second one that must match too, and what both mean."""
_RAN, _ENDED = re.compile(r"^=== RUN ", re.M), re.compile(r"^[ \t]*--- (?:FAIL|PASS|SKIP): ", re.M)


def crash_in(text: str) -> str:
    """The crash that a failure's text reports; empty for an ordinary failure."""
    for pattern, second, meaning in _MARKS:
        if pattern.search(text) and (second is None or second.search(text)):
            return meaning
    if _RAN.search(text) and not _ENDED.search(text):
        return "go test ended in the middle of a test"
    return ""
