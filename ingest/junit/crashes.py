"""Crashes of the runner inside a test, and memory or disk space that ran out there: what else ran, or was written, is
in doubt, so a quarantine of that test must not excuse it."""

import re
from collections.abc import Iterable, Sequence

from ingest.junit.report import Attempt, Failure

_LOOKED_AT = 20_000
"""Characters at each end of a failure's text that are searched for a crash."""
_ALONE = frozenset({"ctest", "nextest", "bazel"})
"""Runners that start a process for each test: its crash is the test's own."""
_GO = frozenset({"gotestsum", "go-junit-report", "go-test"})

_ERROR = (
    r"(?:(?:\w{1,60}\.){0,9}\w{0,40}MemoryError|java\.lang\.(?:OutOfMemory|StackOverflow|Internal|Unknown)Error"
    r"|System\.OutOfMemoryException|SystemStackError)\b"
)
"""Errors after which a process is in no state to go on, as their languages see it."""
_TYPE = re.compile(_ERROR + r"\Z")
_MESSAGE = re.compile(r"(?:failed on (?:setup|call|teardown) with \"?)?(?P<error>" + _ERROR + ")")
_CRASH = re.compile(
    r"worker 'gw[0-9]{1,4}' crashed"
    r"|^(?:The forked VM terminated|There was an error in the forked process|ExecutionException The forked VM)"
    r"|^(?:Fatal Python error: |Segmentation fault\b|Abort trap\b|SIG(?:SEGV|ABRT|BUS|ILL|KILL)\b|# +SIGSEGV\b)"
    r"|\(core dumped\)$"
    r"|jest worker process [^\n]{0,80}was terminated|[Ww]orker process has crashed|worker process exited unexpectedly"
    r"|Worker exited unexpectedly|^(?:Call retries were exceeded|Jest worker encountered [0-9]{1,9} child process)"
    r"|JavaScript heap out of memory|\[BUG\] |Test host process crashed|^(?:Bus error|Killed)\b(?!:)"
    r"|Allowed memory size of [0-9]{1,18} bytes exhausted|description \"std::bad_alloc\""
    r"|^(?:[ |]{0,20}E {1,20}|[ \t|]{0,20}Caused by: |[ |]{1,20})?" + _ERROR,
    re.MULTILINE,
)
_CRASH_WORDS = (
    *("crashed", "The forked VM", "in the forked process", "Fatal Python error", "Segmentation fault", "Abort trap"),
    *("SIG", "(core dumped)", "was terminated", "xited unexpectedly", "retries were exceeded", "Jest worker", "[BUG] "),
    *("heap out of memory", "Bus error", "Killed", "Allowed memory size", "std::bad_alloc", "MemoryError"),
    *("java.lang.", "System.OutOfMemoryException", "SystemStackError"),
)
"""Whatever `_CRASH` finds holds one of these: looking for them first takes a twentieth of the time."""
_EXHAUSTED = re.compile(
    r"(?<![\"'`])\b(?:No space left on device|not enough space on the disk|Disk quota exceeded|Cannot allocate memory"
    r"|ENOSPC: |ENOMEM: )",
    re.IGNORECASE,
)
"""What the system says when the whole machine has no disk space or memory left; a test that expects it, quotes it."""
_EXHAUSTED_WORDS = ("left on device", "space on the disk", "quota exceeded", "allocate memory", "enospc: ", "enomem: ")
"""The same of `_EXHAUSTED`, without case."""
_GO_CRASH = re.compile(
    r"^(?:panic: |fatal error: |signal: (?:killed|segmentation fault|aborted)|SIG[A-Z]{3,5}: )", re.MULTILINE
)


def crash_in(attempts: Iterable[Attempt], producer: str) -> str:
    """A sentence on what a failing attempt reports of a crash or of a machine without memory; empty if nothing."""
    failures = (failure for attempt in attempts if attempt.verdict.failing for failure in attempt.failures)
    return next((sentence for failure in failures if (sentence := _sentence(failure, producer))), "")


def _sentence(failure: Failure, producer: str) -> str:
    texts = (failure.message[:_LOOKED_AT], failure.text[:_LOOKED_AT], failure.text[_LOOKED_AT:][-_LOOKED_AT:])
    together = "\n".join(texts)
    if producer not in _ALONE and (words := _crash(failure, texts, together, producer)):
        return f"The runner crashed in this test: {words}"
    words = _words(texts, _EXHAUSTED) if _holds_any(together.casefold(), _EXHAUSTED_WORDS) else ""
    return f"The machine had no disk space or memory left in this test: {words}" if words else ""


def _crash(failure: Failure, texts: Sequence[str], together: str, producer: str) -> str:
    if _TYPE.match(failure.type):
        return failure.type
    if found := _MESSAGE.match(failure.message):
        return found["error"]
    if _holds_any(together, _CRASH_WORDS) and (words := _words(texts, _CRASH)):
        return words
    return _words(texts, _GO_CRASH) if producer in _GO else ""


def _holds_any(text: str, words: Iterable[str]) -> bool:
    return any(map(text.__contains__, words))


def _words(texts: Iterable[str], pattern: "re.Pattern[str]") -> str:
    """What the pattern finds at either end of the failure's text, to the end of its line."""
    for text in texts:
        if found := pattern.search(text):
            return text[found.start() : found.end() + 80].strip().partition("\n")[0]
    return ""
