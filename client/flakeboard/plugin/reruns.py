"""Reruns of a failed test within pytest. Only for failures of the test itself: a broken fixture is not flaky."""

from __future__ import annotations

from typing import Any, Callable

from _pytest.runner import runtestprotocol


def run(item: Any, nextitem: Any, times: Callable[[], int]) -> None:
    """Run an item, and up to `times` again while it fails; all attempts but the last are reported as `rerun`."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    left = times()
    while True:
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        again = left > 0 and _failed_in_itself(reports) and not _stopping(item)
        for report in reports:
            if again and report.when == "teardown":
                continue  # only the last attempt reports its teardown
            if again and report.when == "call":
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        if not again:
            break
        left -= 1
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _failed_in_itself(reports: list[Any]) -> bool:
    """Whether only the call failed, and not by a crash."""
    outcomes = {report.when: report.outcome for report in reports}
    crashed = any(getattr(report, "flakeboard_crash", False) for report in reports)
    return outcomes == {"setup": "passed", "call": "failed", "teardown": "passed"} and not crashed


def _stopping(item: Any) -> bool:
    return bool(item.session.shouldstop or item.session.shouldfail)
