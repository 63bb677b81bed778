"""Test runners: which exit code says "tests failed", for how many of them, and whose reports are whose. Pure."""

from collections.abc import Iterable, Mapping

_COUNTS: Mapping[str, int] = {"mocha": 255, "robot": 250, "cypress": 255}
"""Runners that exit with the number of failed tests, up to this."""

TESTS_FAILED: Mapping[str, tuple[int, ...]] = {
    "pytest": (1,),
    "jest": (1,),
    "vitest": (1,),
    "playwright": (1,),
    "go": (1,),
    "ginkgo": (1,),
    "maven": (1,),
    "gradle": (1,),
    "rspec": (1,),
    "dotnet": (1,),
    "behave": (1,),
    "tox": (1,),
    "nox": (1,),
    "make": (2,),
    "bazel": (3,),
    "ctest": (8,),
    "mix": (2,),
    "xcodebuild": (65,),
    "cargo": (101,),
    "nextest": (100,),
    "phpunit": (1, 2),
    **{runner: tuple(range(1, most + 1)) for runner, most in _COUNTS.items()},
    "other": (1,),
}
"""Runner -> its exit codes for failed tests. pytest's 2 to 5 are interrupted, internal, usage and nothing collected;
go's 2 is a build that failed; phpunit's 2 is an error in a test; make's own code hides that of what it ran; bazel's 1
is a build that failed; robot's 251 to 255 are its own errors; tox and nox pass on what their command gave."""
RUNNERS = tuple(TESTS_FAILED)
OTHER = "other"

_OF_PRODUCER: Mapping[str, str] = {
    "pytest": "pytest",
    "jest-junit": "jest",
    "vitest": "vitest",
    "playwright": "playwright",
    "gotestsum": "go",
    "go-junit-report": "go",
    "go-test": "go",
    **dict.fromkeys(("trx", "nunit", "xunit.net"), "dotnet"),
    "surefire": "maven",
    "gradle": "gradle",
    "nextest": "nextest",
    "phpunit": "phpunit",
    "mocha": "mocha",
    "ctest": "ctest",
    "robot": "robot",
}
_SHELL = 128
_SIGNALS = 64


def runner_of(producer: str) -> str:
    """The runner whose reports this producer writes."""
    return _OF_PRODUCER.get(producer, OTHER)


def runner_behind(producers: Iterable[str], exit_code: int, exit_codes: Mapping[str, tuple[int, ...]]) -> str:
    """The runner whose exit code is judged. Of several the one that speaks against it most: a report that comes beside
    the others explains no exit code that they do not, nor hides that one of them counts its failures."""
    runners = sorted({runner_of(producer) for producer in producers}) or [OTHER]
    return min(runners, key=lambda runner: (exit_code in failed_codes(runner, exit_codes), runner not in _COUNTS))


def failed_codes(runner: str, exit_codes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Exit codes that mean "tests failed"; the project's own `exit_codes` replace the defaults."""
    return exit_codes.get(runner) or TESTS_FAILED.get(runner, TESTS_FAILED[OTHER])


def counted_failures(runner: str, exit_code: int) -> int | None:
    """How many tests failed at least, by the exit code of a runner that counts them; None for all others."""
    most = _COUNTS.get(runner)
    return exit_code if most is not None and 0 < exit_code <= most else None


def signal_of(exit_code: int) -> int | None:
    """The signal that ended the runner: negative as Python tells it, above 128 as a shell does."""
    if exit_code < 0:
        return -exit_code
    return exit_code - _SHELL if _SHELL < exit_code <= _SHELL + _SIGNALS else None
