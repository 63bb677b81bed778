"""The comparison on the logs that were published with RootFinder."""

from __future__ import annotations

import sys

import pytest

from tests.paths import ROOT

sys.path.insert(0, str(ROOT / "client"))

from flakeboard.differences import chances  # noqa: E402
from flakeboard.differences.comparison import Difference, compare  # noqa: E402

from tests.science.rootfinder import runs  # noqa: E402

LOGS = ROOT.parent / "shared" / "data" / "rootfinder"
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="the published logs are not here")


@pytest.fixture(autouse=True)
def _fewer_relabellings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chances, "RELABELLINGS", 150)


def first_three(test: str) -> tuple[list[Difference], int]:
    found = compare(runs(LOGS / f"{test.partition('/')[0]}.zip", test))
    return list(found.differences[:3]), found.failing


@pytest.mark.parametrize(
    ("test", "failing", "callee", "offset"),
    [
        ("15/4/1", 20, "System.Threading.CancellationToken.IsCancellationRequested", 154),
        ("15/5/1", 11, "System.Threading.CancellationToken.IsCancellationRequested", 138),
    ],
)
def test_the_cause_comes_first(test: str, failing: int, callee: str, offset: int) -> None:
    (first, *_), count = first_three(test)
    assert first.site is not None and count == failing
    assert first.site.callee.startswith("code:" + callee) and first.site.nth == offset
    assert (first.tier, first.separation, first.failing) == (1, 1.0, (failing, failing))
    assert first.passing == (0, 100 - failing)


def test_one_failing_run_is_never_more_than_chance() -> None:
    found, _ = first_three("6/1/1")
    assert any(each.site and each.site.callee.endswith("Task.Start()") and each.site.nth == 141 for each in found)
    assert {each.tier for each in found} == {2}
