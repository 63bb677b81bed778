"""RSpec: file and line select tests, else the full description.

An example without a description (`it { is_expected.to ... }`) gets one only while it runs, so `-e` cannot select it."""

from __future__ import annotations

import os
import re
from typing import Sequence

from flakeboard.reports.case import Case
from flakeboard.runners.runner import Runner, RunnerCall, distinct, without

_CHOOSING = ("--only-failures", "-n", "--next-failure", "--fail-fast")
_WITH_VALUE = (
    "-f",
    "--format",
    "-o",
    "--out",
    "-r",
    "--require",
    "-I",
    "-O",
    "--options",
    "-t",
    "--tag",
    "-P",
    "--pattern",
)
_WITH_VALUE += ("--seed", "--order", "--default-path", "--exclude-pattern", "--deprecation-out", "--profile", "-c")
_PLACE = re.compile(r"^(?:# )?(\./[^\s:]+\.rb):([0-9]+)", re.M)


def _select(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    kept = without(call.arguments, ("-e", "--example", "-E", "--example-matches"))
    kept = [word for word in kept if word not in _CHOOSING and not word.startswith("--fail-fast=")]
    places = [place_of(case) for case in cases]
    if all(places):
        return [*call.before, *_without_paths(kept), *distinct([place for place in places if place])]
    return [*call.before, *kept, *[word for name in distinct([case.name for case in cases]) for word in ("-e", name)]]


def place_of(case: Case) -> str:
    """`./spec/cart_spec.rb:7`: a line of the example from its failure's trace. RSpec accepts any line of an example."""
    lines = [line for path, line in _PLACE.findall(case.text) if os.path.normpath(path) == os.path.normpath(case.file)]
    return f"{case.file}:{lines[-1]}" if lines else ""


def _without_paths(arguments: Sequence[str]) -> list[str]:
    """Arguments without files and folders, which would run everything in them."""
    kept, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word.startswith("-"):
            kept.append(word)
            if word in _WITH_VALUE and rest:
                kept.append(rest.pop(0))
        elif not os.path.exists(re.sub(r"(?::[0-9:]+|\[[0-9:,]+\])\Z", "", word)):
            kept.append(word)
    return kept


RSPEC = Runner("rspec", ("rspec",), _select, report_options=("--out", "-o"))
