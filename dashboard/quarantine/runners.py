"""Test runners: which exit code says "tests failed", and whose reports are whose. Pure."""

from collections.abc import Mapping

TESTS_FAILED: Mapping[str, tuple[int, ...]] = {
    "pytest": (1,),
    "jest": (1,),
    "vitest": (1,),
    "playwright": (1,),
    "go": (1,),
    "maven": (1,),
    "gradle": (1,),
    "rspec": (1,),
    "nextest": (100,),
    "phpunit": (1, 2),
    "other": (1,),
}
"""Runner -> its exit codes for failed tests. pytest's 2 to 5 are interrupted, internal, usage and nothing collected;
go's 2 is a build that failed; phpunit's 2 is an error in a test."""
RUNNERS = tuple(TESTS_FAILED)
OTHER = "other"

_OF_PRODUCER: Mapping[str, str] = {
    "pytest": "pytest",
    "jest-junit": "jest",
    "vitest": "vitest",
    "playwright": "playwright",
    "gotestsum": "go",
    "go-junit-report": "go",
    "surefire": "maven",
    "gradle": "gradle",
    "nextest": "nextest",
    "phpunit": "phpunit",
}
_SHELL = 128
_SIGNALS = 64


def runner_of(producer: str) -> str:
    """The runner whose reports this producer writes."""
    return _OF_PRODUCER.get(producer, OTHER)


def failed_codes(runner: str, told: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Exit codes that say "tests failed"; `told` is what the project says of its runners."""
    return told.get(runner) or TESTS_FAILED.get(runner, TESTS_FAILED[OTHER])


def signal_of(exit_code: int) -> int | None:
    """The signal that ended the runner: negative as Python tells it, above 128 as a shell does."""
    if exit_code < 0:
        return -exit_code
    return exit_code - _SHELL if _SHELL < exit_code <= _SHELL + _SIGNALS else None
