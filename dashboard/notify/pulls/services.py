"""The way of a comment and a check: asked for after a run was judged, claimed by one worker, written, or put off.

The row of a pull request is the queue. A killed worker's row is taken over; should it have been killed between making
the comment and keeping its id, the comment is found by its marker. So there is one comment a pull request.

Nothing is written for results of forks that nobody admitted: a fork may claim to be of any pull request and commit, and
what it sends would be said in our name."""

import logging
import re
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256

from django.db.models import F, Q
from django.utils import timezone

from analytics.reach.selectors import change_of
from analytics.selectors import current_tests
from dashboard.builds.addresses import pull_address
from dashboard.builds.answer import build_answer
from dashboard.builds.failures import build_failures
from dashboard.notify.backoff import next_try
from dashboard.notify.encryption import Unsealable
from dashboard.notify.models import CodeHost, PullReport
from dashboard.notify.pulls.annotations import annotations_of
from dashboard.notify.pulls.body import LISTED, comment_of, marker_of, title_of
from dashboard.notify.pulls.github import GitHub, GitHubApp
from dashboard.notify.pulls.host import Check, Host, HostFailed
from dashboard.notify.pulls.other_hosts import Bitbucket, Gitea, GitLab
from ingest.builds import Pull, pull_of
from ingest.leases import Claim, ClaimLost, Lease
from ingest.models import Project, Run

logger = logging.getLogger(__name__)
LEASE_LENGTH = timedelta(minutes=5)
"""Longer than all its requests take together: so it is not renewed between them."""
LEASE = Lease(model=PullReport, length=lambda: LEASE_LENGTH)
TOGETHER = timedelta(seconds=10)
"""Jobs of a build end one after the other: so long it is waited for the next before anything is written."""
AGAIN = timedelta(hours=1)
"""What was written so recently is looked at again after an analysis: what was new may be known as flaky."""
_AT_ONCE = 50
_NUMBER = re.compile(r"[0-9]{1,18}")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


# -- what is due -------------------------------------------------------------------------------------------------


def pull_report_ask(*, run: Run) -> None:
    """Something of a pull request was judged: write it soon, where that is wanted."""
    if run.untrusted or not _NUMBER.fullmatch(run.pull_request):
        return
    if not CodeHost.objects.filter(project=run.project_id).exclude(secret="").exists():
        return
    now = timezone.now()
    PullReport.objects.update_or_create(
        project_id=run.project_id,
        number=run.pull_request,
        defaults={"asked_at": now, "due_at": now + TOGETHER, "tries": 0},
    )


def pull_reports_ask_again(*, project_id: int) -> None:
    """After an analysis: what was written lately may read differently now."""
    recent = PullReport.objects.filter(project=project_id, due_at=None, written_at__gt=timezone.now() - AGAIN)
    recent.update(due_at=timezone.now())


def pull_reports_due() -> list[int]:
    """Rows that a worker should be woken for."""
    due = PullReport.objects.filter(_due(timezone.now())).order_by("due_at")
    return list(due.values_list("pk", flat=True)[:_AT_ONCE])


def _due(now: datetime) -> Q:
    return Q(due_at__lte=now) & (Q(claim=None) | LEASE.abandoned(now))


# -- one pull request --------------------------------------------------------------------------------------------


def pull_report_write(*, report_id: int) -> bool:
    """Write what is due. False where somebody else does, or nothing is."""
    now = timezone.now()
    claim = LEASE.claim(report_id, _due(now), now=now)
    if claim is None:
        return False
    report = PullReport.objects.select_related("project__code_host").get(pk=report_id)
    try:
        _write(report, claim)
    except HostFailed as error:
        _put_off(report, claim, error)
    except ClaimLost:
        logger.info("pull request %s: somebody else writes it", report.pk)
    return True


def _write(report: PullReport, claim: Claim[PullReport]) -> None:
    project = report.project
    host, pull = getattr(project, "code_host", None), pull_of(project, report.number, trusted=True)
    if host is None or pull is None or not host.secret:
        _finish(report, claim)
        return
    check, comment, marker = _content(project, pull)
    digest = sha256(repr((check, comment, host.comments, host.checks)).encode()).hexdigest()
    if digest != report.digest:
        site = host_at(host)
        if host.comments:
            _comment(site, report, claim, comment, marker)
        if host.checks and _COMMIT.fullmatch(pull.commit):
            known = report.check_run if report.commit == pull.commit else ""
            claim.update(check_run=site.check(check, known), commit=pull.commit)
        CodeHost.objects.filter(pk=host.pk).update(last_success_at=timezone.now())
    _finish(report, claim, digest=digest, written_at=timezone.now())


def _content(project: Project, pull: Pull) -> tuple[Check, str, str]:
    analysis, columns = current_tests(project.pk)
    answer = build_answer(project, pull.build, analysis, columns)
    failures = build_failures(project, answer, columns, most=LISTED)
    change = change_of(pull.build.newest)
    annotations = annotations_of(project, failures, {file.path for file in change.files} if change else ())
    page, marker = pull_address(project.slug, pull.number), marker_of(project, pull.number)
    comment = comment_of(project, answer, failures, annotations, page=page, marker=marker)
    check = Check(pull.commit, answer.verdict, title_of(answer), comment, page, list(annotations.values()))
    return check, comment, marker


def _comment(site: Host, report: PullReport, claim: Claim[PullReport], body: str, marker: str) -> None:
    """Edit our comment: the one whose id is known, else one with our marker; only where there is none, make it."""
    if report.comment and _edited(site, report, report.comment, body, gone=(404,)):
        return
    marked = site.marked(report.number, marker)
    found = next((comment for comment in marked if _edited(site, report, comment, body, gone=(403, 404))), None)
    claim.update(comment=found or site.write(report.number, body))


def _edited(site: Host, report: PullReport, comment: str, body: str, *, gone: tuple[int, ...]) -> bool:
    """False where somebody deleted it; or, of one that is only known by its marker, where it is not ours."""
    try:
        site.edit(report.number, comment, body)
    except HostFailed as error:
        if error.status not in gone:
            raise
        return False
    return True


def host_at(host: CodeHost) -> Host:
    try:
        secret = host.plain_secret
    except Unsealable as error:
        raise HostFailed(str(error), final=True) from error
    if host.kind == CodeHost.Kind.GITHUB_APP:
        return GitHubApp.installed(host.base_url, host.repository, host.app_id, host.installation_id, secret)
    kinds = {
        CodeHost.Kind.GITHUB: GitHub,
        CodeHost.Kind.GITLAB: GitLab,
        CodeHost.Kind.BITBUCKET: Bitbucket,
        CodeHost.Kind.GITEA: Gitea,
    }
    adapter: type[GitHub | GitLab | Bitbucket | Gitea] = kinds[CodeHost.Kind(host.kind)]
    return adapter.at(host.base_url, host.repository, secret)


def _finish(report: PullReport, claim: Claim[PullReport], **changes: object) -> None:
    """Done, unless something new was judged meanwhile: then it stays due."""
    with suppress(ClaimLost):
        claim.release(tries=0, error="", **changes)
    PullReport.objects.filter(pk=report.pk, asked_at=report.asked_at, due_at=report.due_at).update(due_at=None)


def _put_off(report: PullReport, claim: Claim[PullReport], error: HostFailed) -> None:
    """Try again later, not before the host says; where trying does not help, when something new comes."""
    now = timezone.now()
    again = None
    if not error.final:
        tries = max(report.tries, 1)
        again = next_try(tries=tries, made_at=report.asked_at, now=now, server_delay=error.again_in)
    logger.warning("pull request %s of project %s: %s", report.number, report.project_id, error)
    CodeHost.objects.filter(project=report.project_id).update(last_error_at=now, last_error=str(error))
    with suppress(ClaimLost):
        claim.release(error=str(error), due_at=again)
    if error.final:
        PullReport.objects.filter(pk=report.pk, asked_at__gt=report.asked_at).update(due_at=F("asked_at") + TOGETHER)
