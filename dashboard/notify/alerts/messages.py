"""What alerts say."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from analytics.history.names import names
from analytics.models import IncidentFinding
from analytics.selectors import current_tests
from analytics.wording import counted, moment, percent, percents
from dashboard.builds.addresses import build_address
from dashboard.notify.alerts.flaky_rate import DAYS
from dashboard.notify.formats.message import TITLE, Item, Message, clean, item, section
from dashboard.notify.messages import address, test_address
from dashboard.quarantine.gate.service import rows_of
from dashboard.quarantine.models import Notification
from dashboard.quarantine.owners.store import owner_book
from ingest.models import Project, Report, Run, Upload

Kind = Notification.Kind
_READ = 50
"""So many of a list are read; more of them are counted."""


def _message(project: Project, kind: Kind, title: str, **parts: Any) -> Message:
    return Message(kind=kind, project=clean(project.name), slug=project.slug, title=clean(title, TITLE), **parts)


def _test_items(project: Project, numbers: Sequence[int], notes: Mapping[int, str] | None = None) -> list[Item]:
    """Tests by name; those that are not read are counted, so that the list says how many there are."""
    known = names(project.pk, tests=numbers[:_READ])
    read = [known.test(number) for number in numbers[:_READ]]
    named = [
        item(test.name, (notes or {}).get(test.number, test.classname), test_address(project, test.number))
        for test in read
    ]
    return [*named, *([Item("")] * (len(numbers) - len(named)))]


def _several(project: Project, numbers: Sequence[int]) -> str:
    """The first test, and how many more."""
    first = names(project.pk, tests=numbers[:1]).test(numbers[0]).name
    return (
        clean(first, TITLE // 2) if len(numbers) == 1 else f"{clean(first, TITLE // 2)} and {len(numbers) - 1:,} more"
    )


# -- flaky tests -------------------------------------------------------------------------------------------------


def flaky_message(project: Project, payload: Mapping[str, Any]) -> Message | None:
    numbers = payload["tests"]
    if not numbers:
        return None
    _, columns = current_tests(project.pk)
    rows, book = rows_of(columns, numbers[:_READ]), owner_book(project)
    known = names(project.pk, tests=numbers[:_READ])
    notes = {
        number: f"failed {row.failed:,} of {row.executed:,} runs; owner {book.owner(known.test(number)) or 'nobody'}"
        for number, row in rows.items()
    }
    return _message(
        project,
        Kind.NEW_FLAKY,
        f"{_several(project, numbers)}: turned flaky",
        sentence="The same code passed and failed. The page of each test has the evidence and the likely cause.",
        sections=(section("Tests", _test_items(project, numbers, notes)),),
        url=test_address(project, numbers[0]) if len(numbers) == 1 else f"{address('tests', project.slug)}?state=flaky",
        data={"tests": numbers},
    )


def rate_message(project: Project, payload: Mapping[str, Any]) -> Message:
    flaky, runs = payload["flaky"], payload["runs"]
    interval = percents(payload["low"], payload["high"])
    return _message(
        project,
        Kind.FLAKY_RATE,
        f"Flaky tests failed {percent(flaky / runs)} of the runs, more than {percent(payload['threshold'])}",
        sentence=f"{flaky:,} of {counted(runs, 'run')} of the last {DAYS} days failed by flaky tests alone: "
        f"{percent(flaky / runs)} (95 % interval {interval}).",
        url=address("priorities", project.slug),
        data={name: payload[name] for name in ("flaky", "runs", "low", "high", "threshold")},
    )


# -- the default branch ------------------------------------------------------------------------------------------


def _run(project: Project, pk: int | None) -> Run | None:
    return Run.objects.filter(project=project, pk=pk).first()


def _run_facts(project: Project, run: Run) -> tuple[tuple[str, str], ...]:
    environment = ", ".join(map(str, run.environment.values()))
    facts = {
        "Branch": run.branch or project.default_branch,
        "Commit": run.commit[:12],
        "Job": ", ".join(part for part in (run.job, run.shard and f"shard {run.shard}", environment) if part),
        "Run": moment(run.placed_at) + " UTC",
    }
    return tuple((name, clean(value)) for name, value in facts.items() if value)


def _run_address(project: Project, run: Run) -> str:
    return build_address(project.slug, run) or address("run", project.slug, run.pk)


def broken_message(project: Project, payload: Mapping[str, Any]) -> Message | None:
    run, numbers, errors = _run(project, payload["run"]), payload["tests"], payload["errors"]
    if run is None:
        return None
    what = counted(len(numbers), "test") if numbers else counted(errors, "error") + " outside of tests"
    verb = "fails" if (len(numbers) or errors) == 1 else "fail"
    sentence = "Neither flakiness nor a quarantine nor an incident explains it."
    return _message(
        project,
        Kind.MAIN_BROKEN,
        f"{clean(project.default_branch, 60)} is broken: {what} {verb if numbers else ''}".rstrip(),
        sentence=sentence,
        facts=_run_facts(project, run),
        sections=(section("Tests", _test_items(project, numbers)),) if numbers else (),
        url=_run_address(project, run),
        data={"run": run.pk, "commit": run.commit, "tests": numbers, "errors": errors},
    )


def mended_message(project: Project, payload: Mapping[str, Any]) -> Message | None:
    run = _run(project, payload["run"])
    if run is None:
        return None
    turned_out = payload["run"] == payload["since"]
    why = "What failed turned out to be flaky or an incident." if turned_out else "The newest run of each job passes."
    return _message(
        project,
        Kind.MAIN_MENDED,
        f"{clean(project.default_branch, 60)} is mended",
        sentence=why,
        facts=_run_facts(project, run),
        url=_run_address(project, run),
        data={"run": run.pk, "commit": run.commit, "broken_run": payload["since"]},
    )


# -- incidents ---------------------------------------------------------------------------------------------------


def incident_message(project: Project, payload: Mapping[str, Any]) -> Message | None:
    numbers = payload["reports"]
    reports = list(Report.objects.filter(project=project, pk__in=numbers[:_READ]).select_related("run").order_by("pk"))
    if not reports:
        return None
    data = dict(
        IncidentFinding.objects.filter(report__in=reports, analysis__current=True).values_list("report_id", "data")
    )
    items = [_incident_item(project, report, data.get(report.pk, {})) for report in reports]
    hosts = {finding["host"] for finding in data.values() if finding.get("host")}
    return _message(
        project,
        Kind.INCIDENT,
        f"Incident: {counted(len(numbers), 'report')} failed for reasons of the machines",
        sentence="What failed in it counts for no test. If that is wrong, reject it on the page of incidents.",
        facts=(("Hosts", clean(", ".join(sorted(hosts)))),) if hosts else (),
        sections=(section("Reports", [*items, *([Item("")] * (len(numbers) - len(items)))]),),
        url=address("incidents", project.slug),
        data={"reports": numbers, "runs": sorted({report.run_id for report in reports})},
    )


def _incident_item(project: Project, report: Report, data: Mapping[str, Any]) -> Item:
    failed = f"{data['failing']:,} of {counted(data['executed'], 'test')} failed" if data.get("executed") else ""
    expected = data.get("expected")
    note = f"{failed}; {expected:.1f} expected" if failed and expected is not None else failed
    return item(f"Run of {moment(report.placed_at)} UTC", note, address("run", project.slug, report.run_id))


# -- uploads -----------------------------------------------------------------------------------------------------


def uploads_message(project: Project, payload: Mapping[str, Any]) -> Message | None:
    numbers = payload["uploads"]
    uploads = list(Upload.objects.filter(project=project, pk__in=numbers[:_READ]).order_by("pk"))
    if not uploads:
        return None
    items = [
        item(
            f"Upload {upload.pk}", (upload.error or {}).get("sentence", ""), address("upload", project.slug, upload.pk)
        )
        for upload in uploads
    ]
    verb = "was" if len(numbers) == 1 else "were"
    return _message(
        project,
        Kind.UPLOAD_ERROR,
        f"{counted(len(numbers), 'upload')} {verb} not read",
        sentence="Results of these runs are missing: the page of each upload says why, file by file.",
        sections=(section("Uploads", [*items, *([Item("")] * (len(numbers) - len(items)))]),),
        url=items[0].url if len(numbers) == 1 else address("uploads", project.slug),
        data={"uploads": numbers},
    )


def silence_message(project: Project, payload: Mapping[str, Any]) -> Message:
    last = datetime.fromisoformat(payload["last"])
    return _message(
        project,
        Kind.NO_UPLOADS,
        f"No uploads for {counted(payload['hours'], 'hour')}",
        sentence=f"The last upload came on {moment(last)} UTC. CI may have stopped, or its upload step fails.",
        url=address("uploads", project.slug),
        data={"hours": payload["hours"], "last": payload["last"]},
    )
