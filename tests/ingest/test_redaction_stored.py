"""Secrets in failure text are replaced before anything is stored, unless the project does not want that."""

from ingest.models import Failure, Project, Report, Signature
from tests.conftest import Send, report_of

_LEAKING = (
    b"<testsuite name='s'><testcase classname='a' name='one'>"
    b"<failure type='E' message='password=hunter2'>at postgres://u:hunter2@db/x</failure>"
    b"<system-out>PASSWORD=hunter2</system-out><system-err>api_key=hunter2</system-err></testcase>"
    b"<testcase classname='a' name='two'/></testsuite>"
)


def _stored(report: Report) -> str:
    failure = Failure.objects.get(report=report)
    parts = (failure.message, failure.text, failure.system_out, failure.system_err)
    return "\n".join((*parts, Signature.objects.get(pk=failure.signature_id).text, str(report.run_errors)))


def test_nothing_stored_of_a_failure_tells_the_secret(send: Send) -> None:
    stored = _stored(report_of(send(_LEAKING, build_id="1")))
    assert "hunter2" not in stored
    assert stored.count("[redacted ") >= 4


def test_a_project_can_switch_it_off(project: Project, send: Send) -> None:
    Project.objects.filter(pk=project.pk).update(redact=False)
    assert "password=hunter2" in _stored(report_of(send(_LEAKING, build_id="1")))


def test_two_passwords_make_one_signature(send: Send) -> None:
    first = report_of(send(_LEAKING, build_id="1"))
    second = report_of(send(_LEAKING.replace(b"hunter2", b"zebra-Q"), build_id="2"))
    assert Failure.objects.get(report=first).signature_id == Failure.objects.get(report=second).signature_id
