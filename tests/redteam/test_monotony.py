"""Whatever is done to an honest run that the gate holds, it stays held: nothing added, damaged, renamed, converted or
split makes it pass. By hand for longer: EXAMPLES=20000 pytest tests/redteam/test_monotony.py"""

import os

import pytest
from django.utils.dateparse import parse_datetime
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.services import Terms, quarantine_create
from dashboard.quarantine.states import Action
from ingest.junit.report import TestKey
from ingest.metadata import RunMetadata
from ingest.models import Project, Test
from ingest.processing import upload_process
from ingest.services import project_create, upload_receive
from tests.conftest import body_of
from tests.extent import repeats
from tests.quarantine.conftest import ANNA
from tests.redteam.model import judge, keys_of
from tests.redteam.submissions import QUARANTINED, File, Submission, changed, held_runs
from tests.redteam.writers import Result

EXAMPLES = int(os.environ.get("EXAMPLES", repeats(200, 400)))
STORED_EXAMPLES = max(EXAMPLES // 20, 15)
unhurried = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


QUARANTINED_TEST = keys_of(File("a.xml", (Result(QUARANTINED),)).content)
"""The test that is quarantined, and no other of its name."""


def is_quarantined(key: TestKey) -> bool:
    return key in QUARANTINED_TEST


def test_the_quarantined_failure_alone_passes() -> None:
    """Else everything would be held for nothing."""
    honest = Submission(((File("a.xml", (Result(QUARANTINED, failed=True), Result("fine"))),),))
    assert judge(honest, is_quarantined).passed


@settings(max_examples=EXAMPLES, suppress_health_check=unhurried)
@given(st.data())
def test_no_change_makes_a_held_run_pass(data: st.DataObject) -> None:
    honest = data.draw(held_runs())
    assert not judge(honest, is_quarantined).passed
    sent = data.draw(changed(honest))
    note(" ".join(sent.changes))
    assert not judge(sent, is_quarantined).passed


# -- the same through the store and the real gate --------------------------------------------------------------------


@pytest.fixture
def shop(db: None) -> Project:
    project = project_create(slug="monotony", name="Monotony")
    first = File("a.xml", (Result(QUARANTINED), Result("fine")))
    upload, _ = upload_receive(project=project, body=body_of(first.content), metadata=RunMetadata(build_id="first"))
    upload_process(upload_id=upload.pk)
    tests = list(Test.objects.filter(project=project, name=QUARANTINED))
    quarantine_create(project=project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)
    return project


def passes(project: Project, sent: Submission, build: str) -> bool:
    """Send every upload, and ask the gate about the first."""
    uploads = []
    for number, files in enumerate(sent.uploads):
        metadata = RunMetadata(build_id=build, job=build, started_at=parse_datetime(sent.started_at))
        body = body_of(*((file.name, file.content) for file in files))
        upload, _ = upload_receive(project=project, body=body, metadata=metadata)
        if not (sent.waiting and number == len(sent.uploads) - 1):
            upload_process(upload_id=upload.pk)
        uploads.append(upload)
    return gate_decide(decision=gate_ask(upload=uploads[0], exit_code=sent.exit_code, runner="other")).passed


@settings(max_examples=STORED_EXAMPLES, suppress_health_check=unhurried)
@given(st.data())
def test_no_change_makes_a_held_run_pass_the_real_gate(shop: Project, data: st.DataObject) -> None:
    honest = data.draw(held_runs().filter(lambda run: "too few" not in run.changes))
    sent = data.draw(changed(honest))
    note(" ".join(sent.changes))
    build = f"b{data.draw(st.integers(0, 10**12))}"
    assert not passes(shop, honest, f"{build}-honest")
    assert not passes(shop, sent, f"{build}-changed")


def test_the_real_gate_passes_the_quarantined_failure_alone(shop: Project) -> None:
    honest = Submission(((File("a.xml", (Result(QUARANTINED, failed=True), Result("fine"))),),))
    assert passes(shop, honest, "honest")
