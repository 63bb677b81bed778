"""What CI sends in each world of the simulator is loaded as what happened there."""

from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest

from analytics.loaders import load
from analytics.simulation import History, Kind, simulate
from analytics.simulation.worlds import WORLDS
from ingest.metadata import RunMetadata
from ingest.models import Project, Upload
from ingest.processing import upload_process
from ingest.services import upload_receive
from tests.analytics.test_loading import numbers, rows, same_groups
from tests.conftest import body_of

SENT = (
    *("another default branch", "no branch named", "no durations", "no commits", "detached clocks"),
    *("retries inside one report", "sharded matrices"),
)
"""Worlds that differ in what is sent, not only in what happens."""
FEW = {
    Kind.INDEPENDENT: 4,
    Kind.BURSTY: 2,
    Kind.VICTIM: 1,
    Kind.ASYNC: 1,
}


def small(name: str) -> History:
    days = 2 if name == "sharded matrices" else 3  # four reports for one
    few = {"seed": 4, "tests": 30, "suites": 5, "days": days, "commits_a_day": 2, "incidents": 1, "regressions": 1}
    settings = replace(WORLDS[name][0], **few, flakes=FEW, fixed_flakes=0, new_flakes=0)
    return simulate(replace(settings, lowest_rate=0.05, pull_request_regressions=0))


def receive_all(project: Project, history: History) -> None:
    """By the server's clock, which is right, whatever the clocks of the hosts say."""
    for upload in sorted(history.uploads(), key=attrgetter("received_at")):
        metadata = RunMetadata.from_json(upload.metadata)
        received, _ = upload_receive(project=project, body=body_of(*upload.files), metadata=metadata)
        Upload.objects.filter(pk=received.pk).update(received_at=upload.received_at)
        upload_process(upload_id=received.pk)


@pytest.mark.parametrize("name", SENT)
def test_what_is_loaded_is_what_was_simulated(name: str, project: Project) -> None:
    history = small(name)
    receive_all(project, history)
    told, ours = history.window(), load(project).window
    to_db = numbers(history, project)
    ran = np.flatnonzero(told.first >= 0)
    for column in ("executed", "failed", "skipped", "extra", "first", "last"):
        assert getattr(told, column)[ran].tolist() == getattr(ours, column)[to_db[ran]].tolist(), column
    np.testing.assert_allclose(told.seconds[ran], ours.seconds[to_db[ran]], rtol=1e-3)
    assert str(rows(told, to_db)) == str(rows(ours, np.arange(len(ours.executed))))  # NaN is NaN
    assert told.reports.started.tolist() == pytest.approx(ours.reports.started.tolist())
    assert told.reports.default_branch.tolist() == ours.reports.default_branch.tolist()
    assert ((told.reports.revision < 0) == (ours.reports.revision < 0)).all()
    for column in ("revision", "environment", "host", "order", "run"):
        assert same_groups(getattr(told.reports, column), getattr(ours.reports, column)), column
