"""Values of approximate assertions: read from properties of test cases, and kept as series.

A property reads `1 tests/t.py:206:0 upper < 0.1 0.0837`: form, file, line and ordinal, kind, operator, bound, value.
It is written by CI, so nothing in it is believed: what is not of this form is left out."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
from django.db import transaction
from django.utils import timezone

from ingest.interning import test_ids
from ingest.lab.value_models import ForkValues, ValueSeries
from ingest.models import Project, Report, Run, Test

KINDS = {"upper": ("<", "<="), "lower": (">", ">="), "share": ("<", "<="), "difference": ("<", "<=", ">", ">=")}
KEPT = 1_000
"""Values of a site and environment that CI sent; of an experiment all that were sent."""
MOST_SITES = 50
"""Of one test in one report."""
MOST_SITES_OF_REPORT = 1_000
MOST_SERIES = 20_000
"""Of one project."""
LONGEST_FILE = 500
_LONGEST_ENVIRONMENT = 1_000
_PROPERTY = re.compile(
    r"1 ([^ :\0]{1,1500}):([0-9]{1,7}):([0-9]{1,4}) ([a-z]{1,10}) ([<>]=?) ([-+.0-9a-z]{1,32}) ([-+.0-9a-z]{1,32})",
    re.ASCII,
)
_NUMBER = re.compile(r"-?([0-9]+(\.[0-9]*)?(e[-+]?[0-9]{1,4})?|inf|nan)", re.ASCII)


@dataclass(frozen=True, slots=True)
class SiteValue:
    """One value of one assertion."""

    file: str
    line: int
    ordinal: int
    kind: str
    op: str
    bound: float
    value: float


def read_property(text: str) -> SiteValue | None:
    """The value that a property holds; None if it holds none."""
    found = _PROPERTY.fullmatch(text)
    if found is None:
        return None
    file, line, ordinal, kind, op, bound, value = found.groups()
    path = unquote(file, errors="replace").replace("\0", "")
    is_known = op in KINDS.get(kind, ()) and kind != "difference"
    if not is_known or not path or len(path) > LONGEST_FILE or not (_is_number(bound) and _is_number(value)):
        return None
    return SiteValue(path, int(line), int(ordinal), kind, op, float(bound), float(value))


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def environment_text(environment: Mapping[str, object]) -> str:
    """The same environment is the same text."""
    return ",".join(f"{name}={environment[name]}" for name in sorted(environment))[:_LONGEST_ENVIRONMENT]


def digest_of(origin: str, environment: str, file: str, line: int, ordinal: int) -> bytes:
    written = "\0".join((origin, environment, file, str(line), str(ordinal)))
    return hashlib.sha256(written.encode()).digest()[:16]


def report_values_store(*, report: Report, run: Run, texts: Mapping[int, Sequence[str]]) -> None:
    """Add a report's values, by number of test, to their series; those of a fork are kept apart, an experiment's not.

    A report that is stored again adds nothing."""
    if report.experiment_id is not None:
        return
    if not report.untrusted:
        _add_to_series(report, run, texts)
        return
    sites = [(number, text) for number, own in texts.items() for text in own[:MOST_SITES] if read_property(text)]
    apart: dict[int, list[str]] = {}
    for number, text in sites[:MOST_SITES_OF_REPORT]:
        apart.setdefault(number, []).append(text)
    if apart:
        ForkValues.objects.update_or_create(report=report, defaults={"texts": apart})


@transaction.atomic
def fork_values_admit(*, run: Run) -> None:
    """Add the values of a fork's reports, which count from now on, to their series."""
    for apart in ForkValues.objects.filter(report__run=run).select_related("report").order_by("report"):
        _add_to_series(apart.report, run, {int(number): texts for number, texts in apart.texts.items()})
        apart.delete()


@transaction.atomic
def _add_to_series(report: Report, run: Run, texts: Mapping[int, Sequence[str]]) -> None:
    written, origin = environment_text(run.environment), ValueSeries.Origin.CI
    id_of = test_ids(report.project_id, texts)
    wanted: dict[tuple[int, bytes], SiteValue] = {}
    for number in id_of:
        for site in filter(None, map(read_property, texts[number][:MOST_SITES])):
            digest = digest_of(origin, written, site.file, site.line, site.ordinal)
            if len(wanted) < MOST_SITES_OF_REPORT:
                wanted.setdefault((id_of[number], digest), site)
    if not wanted:
        return
    _make_room(report.project_id, origin, written, wanted)
    series = ValueSeries.objects.select_for_update().filter(
        project_id=report.project_id, test_id__in={test_id for test_id, _ in wanted}, origin=origin
    )
    changed = []
    for row in series.order_by("pk"):
        known = wanted.get((row.test_id, bytes(row.digest)))
        if known is not None:
            _append(row, known, report.pk, run.commit)
            changed.append(row)
    fields = ("kind", "op", "commit", "values", "bounds", "reports", "is_stale", "updated_at")
    ValueSeries.objects.bulk_update(changed, fields, batch_size=100)


def _make_room(project_id: int, origin: str, environment: str, wanted: Mapping[tuple[int, bytes], SiteValue]) -> None:
    """Empty series for new sites, as far as the project has room for them."""
    tests = {test_id for test_id, _ in wanted}
    known = {
        (test_id, bytes(digest))
        for test_id, digest in ValueSeries.objects.filter(test_id__in=tests).values_list("test_id", "digest")
    }
    room = MOST_SERIES - ValueSeries.objects.filter(project_id=project_id).count()
    new = [key for key in wanted if key not in known][: max(room, 0)]
    rows = (_empty(project_id, origin, environment, key, wanted[key]) for key in new)
    ValueSeries.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def _empty(project_id: int, origin: str, environment: str, key: tuple[int, bytes], site: SiteValue) -> ValueSeries:
    return ValueSeries(
        project_id=project_id,
        test_id=key[0],
        digest=key[1],
        origin=origin,
        environment=environment,
        file=site.file,
        line=site.line,
        ordinal=site.ordinal,
        kind=site.kind,
        op=site.op,
        values=b"",
        bounds=b"",
        reports=b"",
    )


def _append(row: ValueSeries, site: SiteValue, report: int, commit: str) -> None:
    """Values of another kind of assertion say nothing about this one: the line was rewritten."""
    values, bounds, reports = floats(row.values), floats(row.bounds), numbers(row.reports)
    if (row.kind, row.op) != (site.kind, site.op):
        values, bounds, reports = values[:0], bounds[:0], reports[:0]
        row.kind, row.op = site.kind, site.op
    other = reports != report
    row.values = packed([*values[other].tolist(), site.value][-KEPT:])
    row.bounds = packed([*bounds[other].tolist(), site.bound][-KEPT:])
    row.reports = np.array([*reports[other].tolist(), report][-KEPT:], dtype="<i8").tobytes()
    row.commit, row.is_stale, row.updated_at = commit, True, timezone.now()


@transaction.atomic
def experiment_values_keep(
    *,
    project: Project,
    test: Test,
    environment: Mapping[str, object],
    commit: str,
    seeds: str,
    runs: int,
    failed: int,
    sites: Iterable[tuple[SiteValue, Sequence[float], dict[str, object]]],
) -> int:
    """Keep an experiment's values, each with what was concluded, in place of those before. Returns how many."""
    written, origin, kept = environment_text(environment), ValueSeries.Origin.BOUNDS, 0
    for site, values, answer in sites:
        digest = digest_of(origin, written, site.file, site.line, site.ordinal)
        is_known = ValueSeries.objects.filter(test=test, digest=digest).exists()
        if not is_known and ValueSeries.objects.filter(project=project).count() >= MOST_SERIES:
            continue
        fields = {
            **{name: getattr(site, name) for name in ("file", "line", "ordinal", "kind", "op")},
            "project": project,
            "origin": origin,
            "environment": written,
            "commit": commit,
            "seeds": seeds,
            "runs": runs,
            "failed": failed,
            "answer": answer,
            "is_stale": False,
            "updated_at": timezone.now(),
            "values": packed(values),
            "bounds": packed([site.bound] * len(values)),
            "reports": b"",
        }
        ValueSeries.objects.update_or_create(test=test, digest=digest, defaults=fields)
        kept += 1
    return kept


def packed(values: Sequence[float]) -> bytes:
    return np.array(values, dtype="<f8").tobytes()


def floats(data: bytes) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.frombuffer(bytes(data), dtype="<f8").astype(np.float64)


def numbers(data: bytes) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.frombuffer(bytes(data), dtype="<i8").astype(np.int64)
