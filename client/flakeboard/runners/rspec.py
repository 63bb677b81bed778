"""RSpec: tests are named by their full description."""

from __future__ import annotations

from typing import Sequence

from flakeboard.junit import Case
from flakeboard.runners.runner import Found, Runner, distinct, without

_CHOOSING = ("--only-failures", "-n", "--next-failure", "--fail-fast")


def _select(found: Found, cases: Sequence[Case]) -> list[str] | None:
    kept = without(found.arguments, ("-e", "--example", "-E", "--example-matches"))
    kept = [word for word in kept if word not in _CHOOSING and not word.startswith("--fail-fast=")]
    return [*found.before, *kept, *[word for name in distinct([case.name for case in cases]) for word in ("-e", name)]]


RSPEC = Runner("rspec", ("rspec",), _select, report_options=("--out", "-o"))
