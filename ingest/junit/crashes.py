"""Crashes of the runner inside a test: later tests did not run, so a quarantine of that test must not excuse it."""

import re
from collections.abc import Iterable

from ingest.junit.report import Attempt, Failure

_LOOKED_AT = 20_000
"""Characters at each end of a failure's text that are searched for a crash."""
_ALONE = frozenset({"ctest", "nextest", "bazel"})
"""Runners that start a process for each test: its crash is the test's own."""
_GO = frozenset({"gotestsum", "go-junit-report", "go-test"})

_TYPE = re.compile(r"(?:builtins\.)?MemoryError\Z|java\.lang\.OutOfMemoryError\Z")
_MESSAGE = re.compile(
    r"(?:failed on (?:setup|call|teardown) with \"?)?(?:MemoryError\b|java\.lang\.OutOfMemoryError\b)"
)
_CRASH = re.compile(
    r"worker 'gw[0-9]{1,4}' crashed"
    r"|^(?:The forked VM terminated|There was an error in the forked process|ExecutionException The forked VM)"
    r"|^(?:Fatal Python error: |Segmentation fault\b|Abort trap\b|SIG(?:SEGV|ABRT|BUS|ILL|KILL)\b|# +SIGSEGV\b)"
    r"|\(core dumped\)$"
    r"|jest worker process [^\n]{0,80}was terminated|[Ww]orker process has crashed|worker process exited unexpectedly"
    r"|Worker exited unexpectedly|^(?:Call retries were exceeded|Jest worker encountered [0-9]{1,9} child process)"
    r"|JavaScript heap out of memory|\[BUG\] |Test host process crashed|^(?:Bus error|Killed)\b(?!:)"
    r"|Allowed memory size of [0-9]{1,18} bytes exhausted",
    re.MULTILINE,
)
_GO_CRASH = re.compile(
    r"^(?:panic: |fatal error: |signal: (?:killed|segmentation fault|aborted)|SIG[A-Z]{3,5}: )", re.MULTILINE
)


def crash_in(attempts: Iterable[Attempt], producer: str) -> str:
    """The text by which a failing attempt reports a crash of the runner; empty if none does."""
    if producer in _ALONE:
        return ""
    failures = (failure for attempt in attempts if attempt.verdict.failing for failure in attempt.failures)
    return next((words for failure in failures if (words := _crash(failure, producer))), "")


def _crash(failure: Failure, producer: str) -> str:
    if _TYPE.match(failure.type) or _MESSAGE.match(failure.message):
        return failure.type if _TYPE.match(failure.type) else "MemoryError"
    for text in (failure.message[:_LOOKED_AT], failure.text[:_LOOKED_AT], failure.text[_LOOKED_AT:][-_LOOKED_AT:]):
        found = _CRASH.search(text) or (_GO_CRASH.search(text) if producer in _GO else None)
        if found is not None:
            return text[found.start() : found.end() + 80].partition("\n")[0].strip()
    return ""
