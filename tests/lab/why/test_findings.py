"""What the server finds in stored traces: the differences, by signature too, and nothing from what must not count."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flakeboard.traces.trace import Event, Site

from analytics.kernel.differences.limits import MOST_EVENTS
from analytics.lab.conclusions import experiment_conclude
from analytics.models import DifferenceFinding, IncidentDecision, TestFinding
from analytics.services import analysis_refresh
from analytics.why.answers import why_answer_of
from analytics.why.services import difference_compare, differences_due, differences_refresh
from analytics.why.traced_runs import within_events
from ingest.lab.services import experiment_begin, experiment_finish
from ingest.models import Project, Report, Run, Test, Trace
from tests.lab.experiments import STARTED, junit
from tests.lab.why.answers import ANSWER
from tests.lab.why.traced import project, traced
from tests.lab.why.uploads import TEST, send, send_runs, trace, trace_file

__all__ = ["project", "traced"]

FIRST = "In all 6 failing runs and none of 14 passing ones `Event.wait` (tests/test_cart.py:41, call 1) returned False."


def number() -> int:
    return Test.objects.get(name="test_total").number


def compared(project: Project) -> DifferenceFinding:
    assert differences_refresh(project_id=project.pk) == 1
    return DifferenceFinding.objects.get()


@pytest.mark.usefixtures("traced")
def test_the_first_sentence_is_the_answer(project: Project) -> None:
    found = compared(project)
    assert (found.verdict, found.category, found.sentence) == ("explained", "async wait", FIRST)
    assert found.data["runs"] | {"since": ""} == {
        "failing": 6,
        "passing": 14,
        "since": "",
        "level": "sources",
        "environment": {},
        "left_out": {},
    }
    assert found.data["sources"] == {"async wait": 1, "randomness": 1}
    assert found.data["picture"] == {"kind": "shares", "failing": [6, 6], "passing": [0, 14]}


def test_few_runs_are_not_enough(project: Project) -> None:
    send_runs(project, failing=1, passing=2)
    found = compared(project)
    assert (found.verdict, found.sentence) == ("not enough data", "Not enough data: 1 failing, 2 passing.")


def test_it_is_compared_again_when_it_fails_again(project: Project) -> None:
    send_runs(project, failing=3, passing=5)
    compared(project)
    assert differences_due(project.pk) == []
    at = STARTED + timedelta(days=2)
    send(project, junit([TEST], at=at), trace_file(trace(drawn=0.25)), at=at, build_id="p")
    assert differences_due(project.pk) == [], "one more passing run changes little"
    own = trace(failed=True, waited=False, drawn=0.75)
    send(project, junit([TEST], [TEST], at=at), trace_file(own), at=at, build_id="f")
    assert differences_due(project.pk) == [number()]
    assert compared(project).failing == 4


def test_forks_count_when_they_are_admitted(project: Project) -> None:
    send_runs(project, failing=3, passing=5)
    own = trace(failed=True, waited=False, drawn=0.3)
    at = STARTED + timedelta(days=2)
    send(project, junit([TEST], [TEST], at=at), trace_file(own), at=at, build_id="f", untrusted=True, fork=True)
    assert Trace.objects.filter(run__untrusted=True).count() == 1
    assert compared(project).data["runs"]["failing"] == 3
    Run.objects.update(untrusted=False)
    assert compared(project).data["runs"]["failing"] == 4


def test_incidents_are_left_out(project: Project) -> None:
    send_runs(project, failing=4, passing=6)
    report = Report.objects.order_by("pk").first()
    IncidentDecision.objects.create(project=project, report=report, word="confirmed")
    runs = compared(project).data["runs"]
    assert (runs["failing"], runs["left_out"]) == (3, {"in incidents": 1})


def test_environments_are_not_mixed(project: Project) -> None:
    send_runs(project, failing=4, passing=6, environment={"os": "linux"})
    own = trace(failed=True, waited=False, drawn=0.31)
    at = STARTED + timedelta(days=2)
    send(project, junit([TEST], [TEST], at=at), trace_file(own), at=at, build_id="w", environment={"os": "windows"})
    runs = compared(project).data["runs"]
    assert (runs["failing"], runs["environment"], runs["left_out"]) == (
        4,
        {"os": "linux"},
        {"of other environments or levels": 1},
    )


@pytest.mark.usefixtures("traced")
def test_failures_of_several_signatures_are_compared_by_signature(project: Project) -> None:
    """Most fail by the wait; three fail otherwise, with other words."""
    for place in range(3):
        at = STARTED + timedelta(days=2, hours=place)
        report = junit([TEST], [TEST], at=at).replace(b"AssertionError: no", b"KeyError: price")
        own = trace(failed=True, waited=True, drawn=0.4 + place / 100)
        send(project, report, trace_file(own), at=at, build_id=f"k{place}")
    found = compared(project)
    assert (found.verdict, found.sentence) == ("explained", FIRST)
    assert [each["failing"] for each in found.data["by_signature"]] == [6, 3]
    assert found.data["runs"]["failing"] == 9


@pytest.mark.usefixtures("traced")
def test_what_was_found_stays_when_the_traces_are_gone(project: Project) -> None:
    compared(project)
    Trace.objects.all().delete()
    assert differences_due(project.pk) == []
    assert why_answer_of(project, number()).sentence == FIRST


def test_an_error_of_ours_is_told_and_not_met_every_minute(project: Project, monkeypatch: Any) -> None:
    send_runs(project, failing=1, passing=3)
    monkeypatch.setattr("analytics.why.services.finding_of", lambda traced: 1 / 0)
    assert compared(project).verdict == "could not be compared"
    assert differences_due(project.pk) == []


def test_orders_of_roles_are_drawn_as_spans(project: Project) -> None:
    sleep = Site("tests/test_cart.py", "test_total", "time.sleep", 1, 30)
    done = Site("shop/pool.py", "flush", "end of thread", 1, 12)
    for place in range(12):
        failed = place < 5
        at = STARTED + timedelta(hours=place)
        late = 80_000 + place if failed else 20_000 + place
        events = (Event(0, 0, None, 10, 50_000 + place * 7 % 5), Event(1, 1, None, late, 1))
        own = trace(failed=failed)._replace(events=events, roles=("main", "main/flush#1"))
        report = junit([TEST], [TEST] if failed else [], at=at)
        send(project, report, trace_file(own, sites=(sleep, done)), at=at, build_id=str(place))
    found = difference_compare(project=project, number=number())
    assert found.category == "async wait" and found.data["picture"]["kind"] == "order"
    spans = {(each["role"], each["failed"]): each["end"] for each in found.data["picture"]["spans"]}
    assert spans["main/flush#1", True] > spans["main", True] and spans["main/flush#1", False] < spans["main", False]


@pytest.mark.usefixtures("traced")
def test_a_cause_that_was_traced_and_one_that_was_tried_come_first(project: Project) -> None:
    def causes() -> list[dict[str, Any]]:
        analysis = analysis_refresh(project=project)
        return TestFinding.objects.get(analysis=analysis, number=number()).data["causes"]

    differences_refresh(project_id=project.pk)
    first = causes()[0]
    assert first["category"] == "async wait" and first["sentence"].startswith("in all 6 failing runs and none of 14")
    experiment, _ = experiment_begin(project=project, key="w", protocol="why", parameters={}, whole=False)
    experiment_conclude(experiment=experiment_finish(experiment=experiment, result=ANSWER))
    first = causes()[0]
    assert first["sentence"] == "held, 0 of 10 runs failed; forced, 10 of 10"
    assert [cause["category"] for cause in causes()].count("async wait") == 1


def test_large_traces_are_compared_as_far_as_there_is_room() -> None:
    sides = [
        [{"pk": (side, place), "events": MOST_EVENTS // 8} for place in range(count)]
        for side, count in ((0, 100), (1, 4))
    ]
    chosen = within_events(sides)
    assert sum(head["events"] for head in chosen) <= MOST_EVENTS
    assert [head["pk"] for head in chosen[:4]] == [(0, 0), (1, 0), (0, 1), (1, 1)], "the newest of both, in turn"
    huge = [[{"pk": place, "events": MOST_EVENTS} for place in range(5)] for _ in range(2)]
    assert len(within_events(huge)) == 6, "too few could not be compared at all"
