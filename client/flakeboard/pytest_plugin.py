"""The pytest plugin: record what ran and where, mask quarantined failures, rerun, and upload at the end.

It does nothing unless one of its options is given, and imports what an option needs only then: every pytest that has
the client installed reads this module, and rewrites it wherever it cannot keep the result. So it is short."""

from __future__ import annotations

import os
from typing import Any

import pytest

_SWITCHES = {
    "quarantine": "failures of quarantined tests do not fail the session",
    "upload": "send the results at the end",
    "coverage": "tell coverage.py which test runs, for `flakeboard coverage`",
    "sketch": "send sketches of the tests, for predictions; no source leaves",
    "values": "write what approximate assertions compare into the report, for the bounds of random tests",
    "reach": "record which functions and files of the project each test uses, to tell what a change touches",
}
_VALUES = {
    "report": ("PATH", "write a JUnit file in order of execution"),
    "reruns": ("auto|N", "rerun failing tests: as often as recommended, or N times"),
    "order": (
        "next|failures|statements|more-statements|functions|more-functions|FILE|seed:TEXT",
        "run the tests in this order",
    ),
    "shard": ("I/N", "run this shard of the suite, as 2/4"),
    "select": ("statements:REF", "run the tests that changes since REF concern"),
    "offline": ("all|fail", "without an answer from the server: run all tests, or exit 1 [all]"),
    "trace": (
        "flaky|all|FILE",
        "record what tests do: those that the server knows as flaky, all, or those whose ids are in a file",
    ),
    "trace-level": (
        "sources|functions|calls",
        "how closely: calls of sources, functions as well, or every call of the project's code [sources]",
    ),
    "trace-folder": ("PATH", "where the traces go [beside the report]"),
    "recipe": ("FILE", "hold and force what a recipe names"),
    "reach-folder": ("PATH", "where that goes [beside the report]"),
}
_INI = {
    "flakeboard_code": "packages outside of rootdir that are the project's own code",
    "flakeboard_sources": "functions to record besides the usual; with a minus, not to",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("flakeboard", "Flakeboard")
    for name, text in _SWITCHES.items():
        group.addoption("--flakeboard-" + name, action="store_true", help=text)
    for name, (metavar, text) in _VALUES.items():
        group.addoption("--flakeboard-" + name, metavar=metavar, default="", help=text)
    for name, text in _INI.items():
        parser.addini(name, text, default="")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Options before they are parsed: in a worker they are given, else they are on the command line."""
    line = getattr(early_config, "known_args_namespace", None)

    def given(name: str) -> Any:
        return getattr(early_config.option, name, None) or getattr(line, name, None)

    if (given("numprocesses") or given("tx")) and "PYTEST_XDIST_WORKER" not in os.environ:
        return  # workers run the tests
    if given("flakeboard_trace") or given("flakeboard_recipe"):
        from flakeboard.plugin import trace_options

        trace_options.start_early(early_config, given("flakeboard_recipe"))
    if given("flakeboard_values"):
        from flakeboard.plugin import value_options

        value_options.start_early(early_config)
    if given("flakeboard_reach"):
        from flakeboard.plugin import reach_options

        reach_options.start_early(early_config)


def pytest_configure(config: pytest.Config) -> None:
    given = {name for name in (*_SWITCHES, *_VALUES) if config.getoption("--flakeboard-" + name)}
    if not given:
        return
    from flakeboard.plugin.registration import register

    register(config, given)
