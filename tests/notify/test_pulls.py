"""One comment a pull request, edited in place, and a check with the verdict; against stand-ins of the real APIs."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from joserfc.jwk import RSAKey

from dashboard.ci_trust.admission import run_admit
from dashboard.notify.models import CodeHost, PullReport
from dashboard.notify.pulls import services
from dashboard.notify.pulls.annotations import places_in
from dashboard.notify.pulls.services import pull_report_ask, pull_report_write, pull_reports_due
from dashboard.notify.pulls.settings import BadHost, HostValues, code_host_set
from dashboard.people.models import AuditEntry
from ingest.models import Project, Run
from tests.conftest import Send
from tests.notify.code_hosts import FakeBitbucket, FakeCodeHost, FakeGitea, FakeGitHubApp, FakeGitLab, answered
from tests.notify.receiver import Receiver
from tests.web.test_pages import failing, passing, report

HOSTILE = "@everyone `x` ](http://evil) <img src=x> **b**"
TRACE = (
    'File "/home/ci/shop/tests/test_cart.py", line 12, in test_total\n  assert 3 == 2\nE\nsite-packages/x.py:9: Error'
)


Judge = Callable[..., Run]


@pytest.fixture
def judged(send: Send) -> Judge:
    """A run of pull request 7 as a worker would have judged it."""

    def judge(*cases: str, commit: str = "a" * 40, **metadata: object) -> Run:
        facts = {"build_id": commit[:4], "pull_request": "7", "branch": "topic", "commit": commit, **metadata}
        run = Run.objects.get(pk=send(report(*cases), **facts).run_id)
        pull_report_ask(run=run)
        PullReport.objects.update(due_at=timezone.now())
        return run

    return judge


def connect(project: Project, receiver: Receiver, host: FakeCodeHost, **more: object) -> FakeCodeHost:
    receiver.answers = host
    values = {"kind": host.kind, "repository": "corp/shop", "base_url": receiver.url, "secret": host.token, **more}
    code_host_set(project=project, wanted=HostValues(**values))
    return host


def write_all() -> None:
    for report_id in pull_reports_due():
        pull_report_write(report_id=report_id)


@pytest.mark.parametrize("kind", [FakeCodeHost, FakeGitea, FakeGitLab, FakeBitbucket])
def test_one_comment_is_edited_whatever_is_pushed_and_every_commit_has_a_status(
    project: Project, receiver: Receiver, judged: Judge, kind: type[FakeCodeHost]
) -> None:
    host = connect(project, receiver, kind())
    for _ in range(100):
        host.add("somebody else's", by="ben")
    judged(failing(HOSTILE, HOSTILE, HOSTILE), passing("calm"))
    write_all()
    (body,) = host.bodies()
    assert "1 of 2 tests failed." in body
    assert f"`` c {HOSTILE} ``" in body  # as code: it mentions and marks nothing
    judged(passing("t"), passing("calm"), commit="b" * 40)
    write_all()
    (body,) = host.bodies()
    assert "All 2 tests passed." in body
    assert HOSTILE not in body
    states = {commit: state.lower() for commit, state in host.states()}
    assert states["a"].startswith("fail")
    assert states["b"].startswith("success")
    asked = len(receiver.received)
    PullReport.objects.update(due_at=timezone.now())
    write_all()
    assert len(receiver.received) == asked  # nothing new, so nothing is written


def test_a_worker_killed_after_the_comment_was_made_leaves_one_comment(
    project: Project, receiver: Receiver, judged: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = connect(project, receiver, FakeCodeHost())
    judged(failing("t"))
    killed = pytest.MonkeyPatch()
    killed.setattr("ingest.leases.Claim.update", lambda *_, **__: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        write_all()
    killed.undo()
    assert len(host.bodies()) == 1
    write_all()
    assert PullReport.objects.get().comment == ""  # the dead worker's lease still holds
    monkeypatch.setattr(services, "LEASE_LENGTH", timedelta())
    PullReport.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    write_all()
    assert len(host.bodies()) == 1
    assert PullReport.objects.get().comment == "1000"


def test_a_comment_with_our_marker_that_is_not_ours_is_left_alone_and_a_deleted_one_made_anew(
    project: Project, receiver: Receiver, judged: Judge
) -> None:
    host = connect(project, receiver, FakeCodeHost())
    judged(failing("t"))
    write_all()
    forged = host.add(host.comments.pop()["text"], by="mallory")
    forged["id"] = 5
    before = forged["text"]
    judged(failing("t"), failing("u"), commit="b" * 40)
    write_all()
    assert (len(host.bodies()), forged["text"]) == (1, before)


def test_a_limit_is_waited_for_and_a_revoked_token_is_told_and_not_tried_again(
    project: Project, receiver: Receiver, judged: Judge, browser: Client
) -> None:
    host = connect(project, receiver, FakeCodeHost())
    host.refusals = [answered({"message": "slow down"}, 429, **{"Retry-After": "600"})]
    judged(failing("t"))
    write_all()
    row = PullReport.objects.get()
    assert row.due_at > timezone.now() + timedelta(seconds=590)
    assert (pull_reports_due(), host.comments) == ([], [])
    host.token = "another"
    PullReport.objects.update(due_at=timezone.now())
    write_all()
    assert PullReport.objects.get().due_at is None
    page = browser.get(reverse("notifications", args=(project.slug,))).content.decode()
    assert "does not know the token any more: enter another." in page
    assert '<input type="checkbox" name="comments" class="form-check-input' in page
    assert "canary" not in page + str(list(AuditEntry.objects.values()))
    connect(project, receiver, host)
    write_all()
    assert len(host.bodies()) == 1
    assert not CodeHost.objects.get().is_failing


def test_nothing_is_written_for_a_fork_until_it_is_admitted(
    project: Project, receiver: Receiver, judged: Judge
) -> None:
    host = connect(project, receiver, FakeCodeHost())
    judged(failing("t"))
    write_all()
    before = host.bodies()
    fork = judged(passing("t"), commit="f" * 40, fork=True)
    Run.objects.filter(pk=fork.pk).update(untrusted=True)
    fork.refresh_from_db()
    PullReport.objects.update(due_at=None)
    pull_report_ask(run=fork)
    assert PullReport.objects.get().due_at is None
    PullReport.objects.update(due_at=timezone.now())
    write_all()
    assert host.bodies() == before
    assert "f" not in dict(host.states())
    run_admit(run=fork)
    PullReport.objects.update(due_at=timezone.now())
    write_all()
    assert dict(host.states())["f"] == "success"


def test_an_app_makes_one_check_run_with_the_line_that_failed(
    project: Project, receiver: Receiver, judged: Judge
) -> None:
    key = RSAKey.generate_key(2048)
    host = FakeGitHubApp(RSAKey.import_key(key.as_pem(private=False)))
    more = {"app_id": "44", "installation_id": "55", "secret": key.as_pem(private=True).decode()}
    connect(project, receiver, host, **more)
    case = failing("test_total", "assert 3 == 2", TRACE).replace("<testcase", "<testcase file='tests/test_cart.py'", 1)
    judged(case, job="unit")
    write_all()
    judged(passing("smoke"), job="e2e")
    write_all()
    (run,) = host.check_runs
    assert (run["conclusion"], run["head_sha"], run["name"]) == ("failure", "a" * 40, "Flakeboard")
    (note,) = run["output"]["annotations"]
    assert (note["path"], note["start_line"], note["annotation_level"]) == ("tests/test_cart.py", 12, "failure")
    assert "2 jobs" in run["output"]["summary"]
    assert "`tests/test_cart.py:12`" in host.bodies()[0]


def test_tracebacks_name_places_innermost_first_and_in_linear_time() -> None:
    assert list(places_in(TRACE)) == [("/home/ci/shop/tests/test_cart.py", 12)]
    assert list(places_in("at run (src\\cart.js:10:5)\ntests/a.py:3: E")) == [("tests/a.py", 3), ("src/cart.js", 10)]
    assert list(places_in("a" * 1_000_000 + ":" + "/." * 500_000)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "svn"},
        {"repository": "../etc"},
        {"base_url": "file:///etc/passwd"},
        {"secret": "two\nlines"},
        {"kind": "github_app", "app_id": "x"},
    ],
)
def test_a_host_that_cannot_be_is_refused(project: Project, wrong: dict[str, str]) -> None:
    with pytest.raises(BadHost):
        code_host_set(project=project, wanted=HostValues(**{"kind": "github", "repository": "corp/shop", **wrong}))


def test_another_address_does_not_get_the_old_secret(project: Project) -> None:
    first = HostValues(kind="github", repository="corp/shop", secret="canary-host-token")
    code_host_set(project=project, wanted=first)
    moved = HostValues(kind="github", repository="corp/shop", base_url="https://elsewhere.example")
    assert code_host_set(project=project, wanted=moved)
    assert CodeHost.objects.get().plain_secret == ""
