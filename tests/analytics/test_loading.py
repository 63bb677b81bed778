"""From stored reports to arrays: what the loader makes of uploads is what happened."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from analytics.kernel.analysis import Analysis, analyse
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.kernel.window import Window
from analytics.loaders import Filter, Loaded, load
from analytics.simulation import History, Settings, simulate
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Test
from ingest.processing import upload_process
from ingest.services import project_create, upload_receive
from tests.api_client import committed_once
from tests.conftest import Send, body_of

SMALL = Settings(seed=5, tests=60, suites=5, days=5, commits_a_day=3, regressions=2, renames=0, new_tests=2)


@dataclass(frozen=True)
class StoredHistory:
    project: Project
    history: History


@pytest.fixture(scope="module", params=[False, True], ids=["pytest, no retries", "surefire, retries"])
def stored(request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any) -> Iterator[StoredHistory]:
    """Sent once: the tests only read it."""

    def make() -> StoredHistory:
        history = simulate(replace(SMALL, retries=request.param))
        project = project_create(slug="simulated", name="Simulated")
        for upload in history.uploads():
            metadata = RunMetadata.from_json(upload.metadata)
            received, _ = upload_receive(
                project=project, body=body_of(*upload.files), metadata=metadata, stated_at=metadata.started_at
            )
            upload_process(upload_id=received.pk)
        return StoredHistory(project, history)

    with committed_once(django_db_blocker, make) as made:
        yield made


@pytest.fixture
def loaded(stored: StoredHistory, db: None) -> Loaded:
    return load(stored.project)


def numbers(history: History, project: Project) -> Ints:
    """By the simulator's test number: the number that the database gave it; -1 where it never ran."""
    known = {
        (classname, name): number
        for number, classname, name in Test.objects.filter(project=project).values_list("number", "classname", "name")
    }
    return np.array([known.get((classname, name), -1) for _, classname, name, _ in history.names])


def rows(window: Window, number_of: Ints) -> list[tuple[object, ...]]:
    """Every execution that is kept, by test number, report and ordinal, with the words of its failure."""
    ran = window.executions
    said = [window.signatures[one] if one >= 0 else "" for one in window.signature.tolist()]
    columns = (number_of[window.failing[ran.test]], ran.report, ran.ordinal, ran.verdict, window.retried)
    seconds = np.round(ran.duration.astype(float), 6)
    return sorted(zip(*(column.tolist() for column in columns), said, seconds.tolist(), strict=True))


def test_what_is_loaded_is_what_was_simulated(stored: StoredHistory, loaded: Loaded) -> None:
    told, ours = stored.history.window(), loaded.window
    to_db = numbers(stored.history, stored.project)
    ran = np.flatnonzero(told.first >= 0)
    for name in ("executed", "failed", "skipped", "extra", "first", "last"):
        assert getattr(told, name)[ran].tolist() == getattr(ours, name)[to_db[ran]].tolist(), name
    np.testing.assert_allclose(told.seconds[ran], ours.seconds[to_db[ran]], rtol=1e-3)
    assert rows(told, to_db) == rows(ours, np.arange(len(ours.executed)))
    assert told.reports.started.tolist() == pytest.approx(ours.reports.started.tolist())
    assert told.reports.default_branch.tolist() == ours.reports.default_branch.tolist()
    for name in ("revision", "environment", "host", "order", "kind"):
        assert same_groups(getattr(told.reports, name), getattr(ours.reports, name)), name
    for report in np.flatnonzero(told.reports.order >= 0).tolist():
        known = to_db[told.orders[told.reports.order[report]]]
        assert known.tolist() == ours.orders[ours.reports.order[report]].tolist()


def same_groups(first: Ints, second: Ints) -> bool:
    """Whether two numberings put the same reports together."""
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(set(first.tolist())) == len(set(second.tolist()))


def conclusions(found: Analysis, number_of: Ints) -> dict[int, tuple[object, ...]]:
    """What is concluded of each test that failed, by its number."""
    failed = found.failed
    columns = (
        *(failed.state, failed.rates.failed, failed.rates.executed, failed.evidence.contradictions),
        *(failed.evidence.recoveries, failed.bursts.longest, failed.to_get_past, failed.to_expose, failed.to_confirm),
        *(failed.onsets.first, failed.onsets.last_clean),
    )
    return dict(
        zip(
            number_of[found.window.failing].tolist(),
            zip(*(column.tolist() for column in columns), strict=True),
            strict=True,
        )
    )


def test_the_loaded_window_gives_the_same_conclusions(stored: StoredHistory, loaded: Loaded) -> None:
    told, ours = analyse(stored.history.window()), analyse(loaded.window)
    to_db = numbers(stored.history, stored.project)
    assert conclusions(told, to_db) == conclusions(ours, np.arange(len(loaded.window.executed)))
    assert np.flatnonzero(told.incident).tolist() == np.flatnonzero(ours.incident).tolist()
    assert {State.FLAKY, State.BROKEN} <= set(ours.failed.state.tolist())


def test_filters_choose_reports(stored: StoredHistory, loaded: Loaded) -> None:
    project = stored.project
    main = load(project, Filter(default_branch=True)).window.reports
    other = load(project, Filter(default_branch=False)).window.reports
    assert len(main) + len(other) == len(loaded.report_ids)
    assert main.default_branch.all() and not other.default_branch.any()
    where = loaded.environments[0]
    there = load(project, Filter(environment=where))
    assert there.environments == [where] and 0 < len(there.report_ids) < len(loaded.report_ids)
    assert len(load(project, Filter(reports=5)).report_ids) == 5
    assert load(project, Filter(reports=5)).report_ids.tolist() == loaded.report_ids[-5:].tolist()
    assert loaded.since is not None and loaded.until is not None
    early = load(project, Filter(until=loaded.since + timedelta(days=3)))
    assert early.until is not None and early.until <= loaded.since + timedelta(days=3)
    recent = load(project, Filter(days=2))
    assert recent.since is not None and recent.since > loaded.until - timedelta(days=2)


ONE = "<testsuite name='s'><testcase classname='c' name='t' time='1'>{}</testcase></testsuite>"


def test_what_is_left_out_is_counted_with_its_reason(project: Project, send: Send) -> None:
    send(ONE.format("").encode(), build_id="1", commit="a")
    cut = ONE.format("<failure>x</failure>").replace("</testsuite>", "<testcase classname='c' na")
    send(cut.encode(), build_id="2", commit="a")
    twice = "<testsuite name='s'>" + 2 * "<testcase classname='c' name='t'/>" + "</testsuite>"
    send(twice.encode(), build_id="3", commit="a")  # nobody says what the second one is
    found = load(project).window
    assert found.excluded["partial reports"] == 1
    assert found.excluded["ambiguous attempts"] == 1
    assert found.executed.tolist() == [1] and found.failed.tolist() == [0]


def test_a_renamed_test_has_the_history_of_both_names(project: Project, send: Send) -> None:
    for build, name in enumerate(("old", "old", "new")):
        failed = "<failure>x</failure>" if build == 1 else ""
        case = f"<testsuite name='s'><testcase classname='c' name='{name}'>{failed}</testcase></testsuite>"
        send(case.encode(), build_id=str(build), commit="a")
    old, new = Test.objects.get(name="old"), Test.objects.get(name="new")
    Test.objects.filter(pk=old.pk).update(alias_of=new)
    window = load(project).window
    assert window.executed[new.number] == 3 and window.failed[new.number] == 1
    assert window.executed[old.number] == 0
    assert analyse(window).state[new.number] == State.FLAKY


@pytest.mark.parametrize("inside", ["<failure>x</failure>", "<flakyFailure>x</flakyFailure>"])
def test_two_names_in_one_report_that_became_one_test_are_left_out_with_their_attempts(
    project: Project, send: Send, inside: str
) -> None:
    old_and_new = f"<testcase classname='c' name='old'>{inside}</testcase><testcase classname='c' name='new'/>"
    send(ONE.format("").encode(), f"<testsuite name='s'>{old_and_new}</testsuite>".encode(), build_id="1", commit="a")
    old, new = Test.objects.get(name="old"), Test.objects.get(name="new")
    assert load(project).window.executed[new.number] == 1
    Test.objects.filter(pk=old.pk).update(alias_of=new)
    window = load(project).window
    assert window.excluded == {"ambiguous attempts": 2}
    assert [int(counts[new.number]) for counts in (window.executed, window.failed, window.extra)] == [0, 0, 0]
    assert window.executed[Test.objects.get(name="t").number] == 1, "the others count"
    assert analyse(window).state[new.number] == State.SUSPECT


def test_a_report_deleted_meanwhile_is_left_out(project: Project, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    for build in range(3):
        send(ONE.format("").encode(), build_id=str(build), commit="a")
    from analytics import loaders

    reports = loaders._reports

    def then_deleted(*args: object) -> object:
        found = reports(*args)  # type: ignore[arg-type]
        Report.objects.filter(project=project).order_by("pk")[0].delete()
        return found

    monkeypatch.setattr(loaders, "_reports", then_deleted)
    assert load(project).window.executed.tolist() == [2]
