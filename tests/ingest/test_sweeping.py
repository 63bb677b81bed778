"""The sweep finds what was accepted and is not being processed, whatever became of broker, worker or clock."""

from datetime import timedelta

import pytest
from django.conf import settings as configured
from django.utils import timezone

from ingest.metadata import RunMetadata
from ingest.models import Project, Upload
from ingest.processing import uploads_sweep
from ingest.services import upload_receive
from tests.conftest import body_of

State = Upload.State
HOUR = timedelta(hours=1)


@pytest.fixture
def upload(project: Project) -> Upload:
    return upload_receive(project=project, body=body_of(b"<testsuite/>"), metadata=RunMetadata())[0]


def swept(upload: Upload, **as_it_is: object) -> bool:
    Upload.objects.filter(pk=upload.pk).update(**as_it_is)
    return upload.pk in uploads_sweep()


def test_what_came_a_moment_ago_is_left_to_its_message(upload: Upload) -> None:
    assert not swept(upload)


def test_what_waits_for_long_is_found_and_not_twice_at_once(upload: Upload) -> None:
    assert swept(upload, received_at=timezone.now() - HOUR)
    assert not swept(upload)


def test_a_worker_that_gives_signs_of_life_keeps_its_upload(upload: Upload) -> None:
    lease = timezone.now() + timedelta(seconds=configured.UPLOAD_LEASE_SECONDS)
    assert not swept(upload, state=State.PROCESSING, lease_until=lease)


def test_a_worker_that_died_loses_it(upload: Upload) -> None:
    assert swept(upload, state=State.PROCESSING, lease_until=timezone.now() - HOUR, received_at=timezone.now() - HOUR)


@pytest.mark.parametrize("state", [State.RECEIVED, State.PROCESSING])
def test_a_lease_from_before_the_clock_was_put_back_does_not_hold(upload: Upload, state: State) -> None:
    ahead = timezone.now() + HOUR
    assert swept(upload, state=state, lease_until=ahead, received_at=ahead)


def test_what_came_before_the_clock_was_put_back_is_found(upload: Upload) -> None:
    assert swept(upload, received_at=timezone.now() + HOUR)


def test_however_many_tries_are_allowed_it_sweeps(upload: Upload, settings) -> None:
    settings.UPLOAD_TRIES = 100
    assert swept(upload, received_at=timezone.now() - HOUR)
