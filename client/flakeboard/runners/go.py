"""Go: tests are named by `-run`, and `-count=1` keeps a cached result from standing for a rerun."""

from __future__ import annotations

import re
from typing import Sequence

from flakeboard.junit import Case
from flakeboard.runners.runner import Found, Runner, distinct, without

_GONE = ("-run", "-count", "-skip", "--run", "--count", "--skip")


def pattern_of(cases: Sequence[Case]) -> str:
    """The top-level tests: a subtest cannot run without its parent, and older Go joins no patterns with slashes."""
    names = distinct([case.name.partition("/")[0] for case in cases])
    return "^(?:{})$".format("|".join(map(re.escape, names)))


def _flags(cases: Sequence[Case]) -> list[str]:
    return ["-run=" + pattern_of(cases), "-count=1"]


def _kept(arguments: Sequence[str]) -> list[str]:
    return [word for word in without(arguments, _GONE) if word not in ("-failfast", "--failfast")]


def _select_go(found: Found, cases: Sequence[Case]) -> list[str] | None:
    """Flags first: what follows -args belongs to the test itself."""
    return [*found.before, *_flags(cases), *_kept(found.arguments)]


def _select_gotestsum(found: Found, cases: Sequence[Case]) -> list[str] | None:
    """Its own flags, then `--`, then those of `go test`."""
    own, rest = _split(found.arguments)
    kept = _kept(rest)
    packages = [] if any(not word.startswith("-") for word in kept) else ["./..."]
    return [
        *found.before,
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
