"""A run that may have been cut short is held, though nothing but a quarantined test failed in it and no norm tells how
many tests there should be. `test_whole_runs` shows that the same failures pass where the run is whole."""

import pytest

from tests.extent import WHOLE
from tests.runners.conftest import Run

ROWS = [
    ("pytest", "-x", "stock", {}, "pytest stops at a failure (the command: -x)"),
    ("pytest", "", "stock", {"PYTEST_ADDOPTS": "-x"}, "PYTEST_ADDOPTS: -x"),
    ("pytest", "-k stock", "stock", {}, "ended with a failing test"),
    ("pytest", "", "stock:memory", {}, "there was no memory left in test_stock"),
    ("pytest", "", "stock:disk", {}, "the disk was full in test_stock"),
    ("pytest", "-p xdist -n 2", "stock:crash", {}, "a worker of pytest crashed"),
    ("plugin", "-x --flakeboard-report=own.xml", "stock", {}, "2 of 6 tests ran"),
    ("plugin", "--flakeboard-quarantine", "stock:memory", {}, "there was no memory left"),
    ("make", "-k", "stock", {}, "make continued after errors"),
    ("jest", "-w 2", "stock:crash", {}, "a worker of Jest crashed"),
    ("mocha", "--bail", "stock", {}, "mocha stops at a failure"),
    ("rspec", "--fail-fast", "stock", {}, "rspec stops at a failure"),
    ("rspec", "", "stock", {"SPEC_OPTS": "--fail-fast"}, "SPEC_OPTS: --fail-fast"),
    ("rspec", "", "stock total:memory", {}, "other runs with these tests have 7"),
    ("rspec", "", "stock:crash", {}, ""),
    ("go", "", "stock:crash", {}, "go test panicked"),
    ("go", "", "stock:exit", {}, "in the middle of a test"),
    (
        "maven",
        "-Dsurefire.runOrder=alphabetical",
        "stock late:crash",
        {},
        "the test class shop.LateTest wrote no report",
    ),
]
"""A row for each way to be cut short, told by the runners that start fastest, or by the one whose way it is."""
OTHERS = [
    ("pytest", "--maxfail=1", "stock", {}, "--maxfail=1"),
    ("plugin", "-n 2 --flakeboard-quarantine", "stock:crash", {}, "a worker of pytest crashed"),
    ("plugin", "--flakeboard-reruns=2", "stock:memory", {}, "there was no memory left"),
    ("plugin", "--flakeboard-quarantine", "stock:disk", {}, "the disk was full"),
    ("jest", "--bail", "stock", {}, "jest stops at a failure (the command: --bail)"),
    ("go", "-failfast", "stock", {}, "stops at a failure"),
    ("go", "", "stock", {"GOFLAGS": "-mod=mod -failfast"}, "GOFLAGS: -failfast"),
    ("maven", "-Dsurefire.skipAfterFailureCount=1", "stock", {}, "skipAfterFailureCount"),
]
"""The same ways, told by more runners."""


@pytest.mark.parametrize(
    ("name", "arguments", "fails", "environ", "why"),
    [*ROWS, *(OTHERS if WHOLE else [])],
    ids=lambda value: str(value)[:40],
)
def test_a_run_that_may_be_cut_short_is_held(
    run: Run, name: str, arguments: str, fails: str, environ: dict[str, str], why: str
) -> None:
    ran = run(*arguments.split(), fails=fails, **environ)
    assert ran.exit_code != 0, ran.output
    assert why in ran.why, ran.output
