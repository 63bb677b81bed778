"""Projects of a given size, written directly into the database: to measure reading, not writing."""

from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
from django.utils import timezone

from ingest.identity import digest_of
from ingest.interning import roster_intern
from ingest.models import Failure, Project, Report, Run, Signature, Test
from ingest.pgcopy import copy_rows
from ingest.services import project_create
from ingest.vectors import encode_durations
from ingest.verdict import Verdict

Outcomes = npt.NDArray[np.bool_]


def scattered(tests: int, reports: int, share: float, seed: int = 0) -> Outcomes:
    """Failures anywhere: every test fails now and then. Reports x tests, True for a failure."""
    return np.random.default_rng(seed).random((reports, tests)) < share


def gathered(tests: int, reports: int, share: float, seed: int = 0, unsound: float = 0.05) -> Outcomes:
    """As many failures in only a few tests, as in reality: the others never fail."""
    rng = np.random.default_rng(seed)
    outcomes = np.zeros((reports, tests), dtype=bool)
    bad = rng.choice(tests, size=int(tests * unsound), replace=False)
    rate = rng.beta(0.3, 0.3 * (unsound / share - 1), size=len(bad))
    outcomes[:, bad] = rng.random((reports, len(bad))) < rate
    return outcomes


def project_with(slug: str, outcomes: Outcomes, *, per_revision: int = 2) -> Project:
    """A project with these outcomes: `per_revision` reports of each revision, an hour apart, with ten signatures."""
    project = project_create(slug=slug, name=slug)
    tests_add(project, outcomes)
    reports_add(project, outcomes, per_revision=per_revision)
    return project


def _began(outcomes: Outcomes) -> datetime:
    return timezone.now() - timedelta(hours=len(outcomes))


def reports_add(project: Project, outcomes: Outcomes, *, per_revision: int = 2) -> None:
    """Add the reports of a project that has its tests but no reports."""
    began, tests = _began(outcomes), outcomes.shape[1]
    test_ids = list(Test.objects.filter(project=project).order_by("number").values_list("pk", flat=True))
    signatures = [
        Signature.objects.create(
            project=project, digest=digest_of(str(number)), text=f"Error <n> {number}", first_seen=began
        )
        for number in range(10)
    ]
    roster = roster_intern(project_id=project.pk, numbers=np.arange(tests, dtype=np.int32))
    rng = np.random.default_rng(1)
    for at, failed in enumerate(outcomes):
        report = _report(project, roster.pk, failed, at, began + timedelta(hours=at), per_revision, rng)
        rows = np.flatnonzero(failed).tolist()
        copy_rows(
            Failure,
            (
                *("report_id", "test_id", "ordinal", "part", "verdict", "type", "message", "text"),
                *("system_out", "system_err", "signature_id"),
            ),
            (
                (report, test_ids[row], 0, 0, int(Verdict.FAIL), "E", "m", "t", "", "", signatures[row % 10].pk)
                for row in rows
            ),
        )


def tests_add(project: Project, outcomes: Outcomes) -> None:
    """Add the tests of a project that has none."""
    began, tests = _began(outcomes), outcomes.shape[1]
    copy_rows(
        Test,
        ("project_id", "number", "digest", "suite", "classname", "name", "file", "first_seen"),
        (
            (
                *(project.pk, number, digest_of(project.slug, str(number)), "pytest"),
                *(f"pkg{number // 1000}.mod{number // 50}.TestThing", f"test_it_{number}", "", began.isoformat()),
            )
            for number in range(tests)
        ),
    )
    Project.objects.filter(pk=project.pk).update(test_count=tests)


def _report(
    project: Project,
    roster_id: int,
    failed: npt.NDArray[np.bool_],
    at: int,
    started: datetime,
    per_revision: int,
    rng: np.random.Generator,
) -> int:
    run = Run.objects.create(
        project=project,
        key=digest_of(project.slug, str(at)),
        commit=f"{at // per_revision:040x}",
        branch="main",
        started_at=started,
        placed_at=started,
        received_at=started,
    )
    bad = int(failed.sum())
    report = Report.objects.create(
        project=project,
        run=run,
        roster_id=roster_id,
        content_digest=rng.bytes(32),
        file_digests=b"",
        started_at=started,
        placed_at=started,
        kept_from=started,
        verdicts=failed.astype(np.uint8).tobytes(),
        durations=encode_durations(rng.lognormal(-3, 1, size=len(failed))),
        order_reliable=False,
        producer="pytest",
        partial=False,
        tests=len(failed),
        passed=len(failed) - bad,
        failed=bad,
        errored=0,
        skipped=0,
        attempts=len(failed),
    )
    return report.pk
