"""Go: `-run` selects tests, and `-count=1` keeps a cached result from passing as a rerun."""

from __future__ import annotations

import re
from typing import Sequence

from flakeboard.reports.case import Case
from flakeboard.runners.runner import Runner, RunnerCall, distinct, without

_REPLACED = ("-run", "-count", "-skip", "--run", "--count", "--skip")


def pattern_of(cases: Sequence[Case]) -> str:
    """A pattern of top-level tests: a subtest needs its parent, and older Go cannot join patterns with slashes."""
    names = distinct([case.name.partition("/")[0] for case in cases])
    return "^(?:{})$".format("|".join(map(re.escape, names)))


def _flags(cases: Sequence[Case]) -> list[str]:
    return ["-run=" + pattern_of(cases), "-count=1"]


def _kept(arguments: Sequence[str]) -> list[str]:
    return [word for word in without(arguments, _REPLACED) if word not in ("-failfast", "--failfast")]


def _select_go(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    """Flags come first: everything after -args belongs to the test itself."""
    return [*call.before, *_flags(cases), *_kept(call.arguments)]


def _select_gotestsum(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    """Put its own flags first, then `--`, then those of `go test`."""
    own, rest = _split(call.arguments)
    kept = _kept(rest)
    packages = [] if any(not word.startswith("-") for word in kept) else ["./..."]
    return [
        *call.before,
        *[word for word in own if not word.startswith("--rerun-fails")],
        "--",
        *_flags(cases),
        *kept,
        *packages,
    ]


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    words = list(arguments)
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


GO = Runner("go", ("go",), _select_go, then="test")
GOTESTSUM = Runner("go", ("gotestsum",), _select_gotestsum, report_options=("--junitfile",))
