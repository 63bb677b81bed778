"""The order of the tests, and who runs which: long groups first, so that all processes end at about the same time.

`--shuffle files` and `--shuffle tests` change the order to one that `--seed` decides: tools/suite_proof.py shows by them
that no test needs another one before it."""

import gc
import re
from collections.abc import Generator
from random import Random
from typing import Any

import pytest

TOGETHER = ("tests/server", "tests/browser", "tests/runners", "tests/pipeline", "tests/truth")
"""Folders whose tests share something made for them: one process runs them all."""
LONG_FIRST = (
    "tests/server",
    "tests/browser",
    "tests/runners",
    "tests/pipeline",
    "tests/truth",
    "tests/faults/test_processes.py",
    "tests/redteam/test_disguises.py",
    "tests/access/test_matrix.py",
    "tests/bench/test_load.py",
    "tests/quarantine/test_one_answer.py",
    "tests/client/test_schedule_commands.py",
    "tests/faults/test_upgrade.py",
    "tests/client/test_oldest_python.py",
    "tests/hostile/test_schema.py",
    "tests/lab/why/test_trace_options.py",
    "tests/quarantine/test_gate_api.py",
    "tests/client/test_schedule_options.py",
    "tests/lab/test_apart.py",
    "tests/lab/test_whole_way.py",
    "tests/bench/test_scale.py",
    "tests/faults/test_start.py",
    "tests/faults/test_analysis.py",
    "tests/notify/test_processes.py",
)
"""Groups that take longest, by the clock; the order of all others makes no difference."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]{9,16}>")


def group_of(nodeid: str) -> str:
    """The folder or file whose tests one process runs, one after the other."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("order")
    group.addoption("--shuffle", choices=("files", "tests"), help="random order of files, or of tests within each file")
    group.addoption("--seed", type=int, default=0, help="which random order")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What is collected stays to the end: looking for garbage among it took a third of the time, in every process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if elsewhere_other := [item.nodeid for item in items if _ADDRESS.search(item.nodeid)]:
        raise pytest.UsageError(f"names of tests that differ in every process: {elsewhere_other[:3]}")
    files: dict[str, dict[str, list[pytest.Item]]] = {}
    for item in items:
        files.setdefault(group_of(item.nodeid), {}).setdefault(item.nodeid.partition("::")[0], []).append(item)
    places = {group: place for place, group in enumerate(LONG_FIRST)}
    groups = sorted(files, key=lambda group: places.get(group, len(places)))
    random, shuffle = Random(config.getoption("seed")), config.getoption("shuffle")
    if shuffle == "files":
        random.shuffle(groups)
    items[:] = []
    for group in groups:
        names = list(files[group])
        if shuffle == "files":
            random.shuffle(names)
        for name in names:
            if shuffle == "tests":
                random.shuffle(files[group][name])
            items += files[group][name]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand groups out in the order of the tests; xdist itself would go by how many tests a file has."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return GroupScheduling(config, log)
