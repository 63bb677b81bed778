"""Projects are served in turn: one that sent much keeps nobody waiting, and nothing waits for the sweep."""

import threading
from collections import deque
from datetime import timedelta

import pytest
from django.db.models import Count
from django.utils import timezone

from ingest import processing
from ingest.fair_queue import Turns
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Upload
from ingest.services import project_create, upload_receive
from tests.at_once import at_once
from tests.conftest import body_of

REPORT = b"<testsuite><testcase name='a'/></testsuite>"
AGO = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has served nobody yet."""
    monkeypatch.setattr(processing, "_turns", Turns(last=0))


def waiting(project: Project, count: int) -> list[int]:
    """Uploads that have waited for some time, oldest first."""
    sent = [
        upload_receive(project=project, body=body_of(REPORT), metadata=RunMetadata(build_id=str(number)))[0].pk
        for number in range(count)
    ]
    Upload.objects.filter(pk__in=sent).update(received_at=timezone.now() - AGO)
    return sent


def work(queue: deque[int], served: list[int]) -> None:
    """What a worker does, until the queue has no message: one of them is as good as another."""
    while queue:
        try:
            message = queue.popleft()
        except IndexError:
            return
        claim = processing.upload_claim_in_turn(woken_for=message, put_back=queue.append)
        if claim is not None and processing.upload_process_claimed(claim=claim):
            served.append(claim.key)


def test_a_project_that_came_last_is_served_second(project: Project) -> None:
    crowd, late = waiting(project, 20), waiting(project_create(slug="late", name="Late"), 1)
    queue, served = deque(crowd + late), list[int]()
    work(queue, served)
    assert served.index(late[0]) <= 1
    assert [one for one in served if one in crowd] == crowd


def test_three_projects_are_served_in_turn(project: Project) -> None:
    others = [project_create(slug=slug, name=slug) for slug in ("b", "c")]
    sent = [waiting(one, 3) for one in (project, *others)]
    queue, served = deque(sum(sent, [])), list[int]()
    work(queue, served)
    assert served == [one for round_ in zip(*sent, strict=True) for one in round_]


def test_what_came_just_now_is_left_to_whoever_was_woken_for_it(project: Project) -> None:
    (old,), fresh = waiting(project, 1), project_create(slug="fresh", name="Fresh")
    upload_receive(project=fresh, body=body_of(REPORT), metadata=RunMetadata())
    queue, served = deque([old, old]), list[int]()
    work(queue, served)
    assert served == [old]
    assert Upload.objects.get(project=fresh).state == Upload.State.RECEIVED


def test_what_pauses_after_an_error_is_not_brought_back_early(project: Project) -> None:
    paused, other = waiting(project, 2)
    Upload.objects.filter(pk=paused).update(tries=1, lease_until=timezone.now() + AGO)
    queue, served = deque([other, other]), list[int]()
    work(queue, served)
    assert served == [other]
    work(deque([paused]), served)
    assert served == [other, paused]


@pytest.mark.django_db(transaction=True)
def test_every_upload_ends_once_and_without_a_sweep_however_many_workers_race(project: Project) -> None:
    others = [project_create(slug=slug, name=slug) for slug in ("b", "c")]
    sent = waiting(project, 12) + [one for other in others for one in waiting(other, 2)]
    queue, served = deque(sent), list[int]()
    assert at_once(*4 * [lambda: work(queue, served)]) == 4 * [None]
    work(queue, served)  # what a thread put back after the others had ended
    assert sorted(served) == sorted(sent)
    assert set(Upload.objects.values_list("state", "tries")) == {(Upload.State.PROCESSED, 1)}
    assert dict(Report.objects.values_list("project__slug").annotate(Count("pk"))) == {"shop": 12, "b": 2, "c": 2}


@pytest.mark.django_db(transaction=True)
def test_a_project_that_waits_alone_gets_every_worker(project: Project) -> None:
    sent, claimed = waiting(project, 4), list[int]()
    queue, all_at_it = deque(sent), threading.Barrier(4, timeout=120)

    def hold() -> None:
        claim = processing.upload_claim_in_turn(woken_for=queue.popleft(), put_back=queue.append)
        assert claim is not None
        all_at_it.wait()
        claimed.append(claim.key)

    assert at_once(*4 * [hold]) == 4 * [None]
    assert sorted(claimed) == sent
