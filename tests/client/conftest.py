"""The client's tests need pytest and the standard library only, so that they run on every Python that the client does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "client"
if str(CLIENT) not in sys.path:
    sys.path.insert(0, str(CLIENT))

from tests.client.misbehaving import Misbehaving  # noqa: E402

CI_VARIABLES = ("CI", "GITHUB_", "GITLAB_", "JENKINS", "CIRCLE", "BUILDKITE", "TF_BUILD", "TRAVIS", "DRONE", "TEAMCITY")
CI_VARIABLES += ("ACTIONS_", "SEMAPHORE", "CODEBUILD_", "APPVEYOR", "CIRRUS_")
CI_VARIABLES += ("BITBUCKET_", "FLAKEBOARD_", "RUNNER_", "CI_", "PYTEST_ADDOPTS", "HTTP_PROXY", "http_proxy")


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own CI must not speak for the runs that they make."""
    for name in list(os.environ):
        if name.startswith(CI_VARIABLES):
            monkeypatch.delenv(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With FIRST_CASES=n the first case of each test, and of a file its first n tests: test_oldest_python.py asks for it."""
    most = int(os.environ.get("FIRST_CASES", "0"))
    if not most:
        return
    files: dict[str, dict[str, pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], {}).setdefault(item.nodeid.partition("[")[0], item)
    chosen = {item for tests in files.values() for item in list(tests.values())[:most]}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


@pytest.fixture
def server() -> Iterator[Misbehaving]:
    with Misbehaving() as running:
        yield running
