"""The order of the tests, and who runs which: long groups first, so that all processes end at about the same time.

`--shuffle files` and `--shuffle tests` change the order to one that `--seed` decides: tools/suite_proof.py shows by them
that no test needs another one before it."""

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
    "tests/client/test_oldest_python.py",
    "tests/access/test_matrix.py",
    "tests/redteam/test_disguises.py",
    "tests/bench/test_load.py",
    "tests/bench/test_scale.py",
)
"""Groups that take longest, by the clock; the order of all others makes no difference."""


def group_of(nodeid: str) -> str:
    """The folder or file whose tests one process runs, one after the other."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("order")
    group.addoption("--shuffle", choices=("files", "tests"), help="random order of files, or of tests within each file")
    group.addoption("--seed", type=int, default=0, help="which random order")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
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
