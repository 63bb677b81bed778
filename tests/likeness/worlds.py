"""Small projects whose flaky tests lie together, or anywhere: with real reports, an analysis at the end."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pytest

from analytics.kernel.parameters import Demands
from analytics.likeness import predictor, units
from analytics.models import Analysis
from analytics.services import analysis_refresh
from ingest.models import Project
from ingest.services import project_create
from tests.conftest import Send, send_files
from tests.furnished import FurnishedDatabases
from tests.lab.lent import Lent, project_or_lent

OFTEN = 4
"""Executions after which a test of most of these worlds counts as stable; 100 reports take a suite's time."""
CLASSES, TESTS = 12, 10
FLAKY_CLASSES = 4
BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)

Names = list[tuple[str, str]]


@pytest.fixture
def few_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictor, "DEMANDS", Demands(stable_executions=OFTEN))


@pytest.fixture
def grown(furnished_databases: FurnishedDatabases) -> Iterator[Lent]:
    """Sent once a process, before any analysis: what a test adds is rolled back, and so are the numbers of its tests, which
    no project gives to others."""
    units._names.cache_clear()
    predictor._EARLIER.clear()
    with furnished_databases.lend("likeness", _make) as made:
        yield made


@pytest.fixture
def earning(grown: Lent, few_executions: None) -> None:
    """The project that has grown, and a predictor to which its few executions are enough."""


@pytest.fixture
def project(request: pytest.FixtureRequest) -> Project:
    return project_or_lent(request, "grown")


def names(classes: Iterable[int] = range(CLASSES), tests: Iterable[int] = range(TESTS)) -> Names:
    """Of each class so many tests; the first of all classes come first, as in a project that grows everywhere."""
    return [(f"shop.test_{group:02}", f"test_{test}") for test in tests for group in classes]


def is_flaky_class(name: tuple[str, str]) -> bool:
    return int(name[0][-2:]) < FLAKY_CLASSES


def report(tests: Names, failing: set[tuple[str, str]]) -> bytes:
    cases = "".join(
        f'<testcase classname="{group}" name="{name}" time="0.1">'
        + ('<failure message="timed out">waited 5 s</failure>' if (group, name) in failing else "")
        + "</testcase>"
        for group, name in tests
    )
    return f'<testsuite name="pytest" tests="{len(tests)}">{cases}</testsuite>'.encode()


def grow(
    send: Send, flaky: Callable[[tuple[str, str]], bool], tests: Names, steps: int = 6, often: int = OFTEN
) -> None:
    """Tests come one part after the other; each flaky one fails once and passes at the same commit."""
    parts = [tests[len(tests) * step // steps : len(tests) * (step + 1) // steps] for step in range(steps)]
    present: Names = []
    for day, part in enumerate(parts):
        present = present + part
        ill = {name for name in part if flaky(name)}
        for build, failing in enumerate((ill, set())):
            when = BEGIN + timedelta(days=day, hours=build)
            send(report(present, failing), build_id=f"{day}-{build}", commit=f"c{day}", branch="main", started_at=when)
    for build in range(often):
        when = BEGIN + timedelta(days=steps, hours=build)
        send(report(present, set()), build_id=f"end-{build}", commit="end", branch="main", started_at=when)


def _make() -> Lent:
    """A project whose flaky tests lie in a third of the classes: the tests beside a new one tell."""
    project = project_create(slug="shop", name="Shop")
    grow(partial(send_files, project), is_flaky_class, names())
    return Lent(project)


def run_again(send: Send, often: int) -> None:
    """All tests pass so many times more."""
    for build in range(often):
        when = BEGIN + timedelta(days=7, hours=build)
        send(report(names(), set()), build_id=f"more-{build}", commit="end", branch="main", started_at=when)


def silent_world(project: Project, send: Send, often: int = OFTEN) -> Analysis:
    """Any test may be flaky, whatever is beside it."""
    drawn = np.random.default_rng(5)
    ill = {name for name in names() if drawn.random() < 0.2}
    grow(send, ill.__contains__, names(), often=often)
    return analysis_refresh(project=project)


def new_tests(send: Send, added: Names, failing: Names = (), **metadata: object) -> None:  # type: ignore[assignment]
    """A run of all tests with more of them, once."""
    values = {"build_id": "new", "commit": "new", "branch": "main", "started_at": BEGIN + timedelta(days=8)}
    send(report([*names(), *added], set(failing)), **{**values, **metadata})
