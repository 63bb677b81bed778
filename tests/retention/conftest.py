"""A project with a report of long ago and one of today."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from ingest.models import Report, Run, Signature, Upload
from tests.conftest import Send

_CASES = """
<testsuite name='shop'>
  <testcase classname='cart' name='adds'/>
  <testcase classname='cart' name='{name}'><failure type='E' message='{name} is wrong'>at {name}</failure>
    <system-out>said {name}</system-out></testcase>
</testsuite>
"""


def document(name: str) -> bytes:
    return _CASES.format(name=name).encode()


Aged = Callable[[str, int], Upload]


@pytest.fixture
def aged(send: Send) -> Aged:
    """Send a report as if it were so many days ago: aged("pays", 40)."""

    def sent(name: str, days: int) -> Upload:
        upload = send(document(name), build_id=name)
        when = timezone.now() - timedelta(days=days)
        _date(upload, when)
        upload.refresh_from_db()
        return upload

    return sent


def _date(upload: Upload, when: datetime) -> None:
    Upload.objects.filter(pk=upload.pk).update(received_at=when, finished_at=when)
    Report.objects.filter(upload=upload).update(started_at=when, placed_at=when, kept_from=when)
    Run.objects.filter(pk=upload.run_id).update(started_at=when, placed_at=when, received_at=when)
    Signature.objects.filter(failure__report__upload=upload).update(first_seen=when)
