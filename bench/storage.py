"""The size of results on disk and the speed of reading a test's history, for three shapes of upload."""

import io
import statistics
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator

import numpy as np
from django.db import connection

from bench.outcome import Outcome
from bench.suites import document, files
from bench.uploads import become_worker, send
from ingest import selectors
from ingest.models import Project, Report, Test
from ingest.services import project_create

TESTS = 50_000
NamedFile = tuple[str, bytes]
PER_REPORT = ("report", "roster", "run", "upload", "attempt", "failure", "signature")
"""Tables that grow with reports; the raw bytes of uploads are separate and have their own retention."""


def _tables(names: tuple[str, ...]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname = ANY(%s)",
            [[f"ingest_{name}" for name in names]],
        )
        return int(cursor.fetchone()[0])


def _vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")


def _history_milliseconds(project: Project) -> float:
    """The median over tests across the suite."""
    taken = []
    for number in np.linspace(0, TESTS - 1, 15).astype(int):
        test = Test.objects.get(project=project, number=int(number))
        began = time.perf_counter()
        history = selectors.test_history(test)
        taken.append((time.perf_counter() - began) * 1_000)
        assert history
    return statistics.median(taken)


def run() -> Iterator[Outcome]:
    become_worker()
    yield from _one_big_file()
    yield from _many_small_files()
    yield from _resharded()


def _one_big_file() -> Iterator[Outcome]:
    project = project_create(slug="big", name="Big")
    before, names = _tables(PER_REPORT), _tables(("test",))
    for build in range(200):
        send(project, [("report.xml", document(range(TESTS), seed=build))], build_id=str(build))
    _vacuum()
    results = 200 * TESTS
    yield Outcome("bytes a result, 200 reports of 50,000 tests", (_tables(PER_REPORT) - before) / results, most=4)
    yield Outcome("  of that, failure texts", _tables(("failure", "signature")) / results)
    yield Outcome("  besides, names of the tests (once a test)", (_tables(("test",)) - names) / results)
    _copy_reports(project, 4_000)
    yield Outcome("one test's history over 4,000 reports", _history_milliseconds(project), "ms", most=150)


def _copy_reports(project: Project, until: int) -> None:
    """Copy reports within the database: only their number matters here."""
    columns = [field.column for field in Report._meta.fields if field.column not in ("id", "content_digest", "run_id")]
    names = ", ".join(f'"{column}"' for column in columns)
    kept = ", ".join(f'report."{column}"' for column in columns)
    copies = until // Report.objects.filter(project=project).count() - 1
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO ingest_report (run_id, content_digest, {names}) SELECT report.run_id, "
            f"sha256((report.id::text || '-' || copy::text)::bytea), {kept} FROM ingest_report AS report, "
            "generate_series(1, %s) AS copy WHERE report.project_id = %s",
            [copies, project.pk],
        )
    _vacuum()


def _many_small_files() -> Iterator[Outcome]:
    project = project_create(slug="small", name="Small")
    before, uploads = _tables(PER_REPORT), 20
    began = time.perf_counter()
    for build in range(uploads):
        send(project, files(2_000, TESTS // 2_000, seed=build), build_id=str(build))
    took = time.perf_counter() - began
    _vacuum()
    yield Outcome("bytes a result, 2,000 files an upload", (_tables(PER_REPORT) - before) / (uploads * TESTS), most=5)
    yield Outcome("results a second, 2,000 files an upload, the first time among them", uploads * TESTS / took)
    for name, packed in (("multipart", list), ("zip", _zipped), ("tar.gz", _tarred)):
        rate = _many_rate(project, name, packed)
        yield Outcome(f"results a second, 2,000 files of a suite seen before, {name}", rate, least=150_000)


def _many_rate(
    project: Project, name: str, packed: Callable[[list[NamedFile]], list[NamedFile]], rounds: int = 9
) -> float:
    """Of the median upload, from its bytes to the commit."""
    taken = []
    for build in range(rounds):
        content = packed(files(2_000, TESTS // 2_000, seed=100 + build))
        began = time.perf_counter()
        send(project, content, build_id=f"{name}.{build}")
        taken.append(time.perf_counter() - began)
    return TESTS / statistics.median(taken)


def _zipped(content: list[NamedFile]) -> list[NamedFile]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in content:
            opened.writestr(name, data)
    return [("reports.zip", archive.getvalue())]


def _tarred(content: list[NamedFile]) -> list[NamedFile]:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as opened:
        for name, data in content:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            opened.addfile(member, io.BytesIO(data))
    return [("reports.tar.gz", archive.getvalue())]


def _resharded() -> Iterator[Outcome]:
    project = project_create(slug="shards", name="Shards")
    before, runs, rng = _tables(PER_REPORT), 40, np.random.default_rng(5)
    for build in range(runs):
        for shard, members in enumerate(rng.permutation(TESTS).reshape(8, -1)):
            content = document(np.sort(members), seed=build)
            send(project, [("report.xml", content)], build_id=str(build), shard=str(shard))
    _vacuum()
    yield Outcome("bytes a result, 8 shards cut anew each run", (_tables(PER_REPORT) - before) / (runs * TESTS), most=9)
    _more_shards(project, 500 - runs, rng)
    yield Outcome("one test's history over 500 resharded runs", _history_milliseconds(project), "ms", most=300)


def _more_shards(project: Project, runs: int, rng: np.random.Generator) -> None:
    """Add runs through the storage layer, with new rosters and vectors of the right size."""
    from ingest.interning import roster_intern

    pattern = Report.objects.filter(project=project).first()
    assert pattern is not None
    for _ in range(runs):
        rows = []
        for members in rng.permutation(TESTS).astype(np.int32).reshape(8, -1):
            roster = roster_intern(project_id=project.pk, numbers=np.sort(members))
            row = Report(
                **{
                    field.attname: getattr(pattern, field.attname)
                    for field in Report._meta.fields
                    if field.attname not in ("id", "roster_id", "content_digest", "verdicts", "durations", "order")
                }
            )
            row.roster_id = roster.pk
            row.content_digest = rng.bytes(32)
            row.verdicts, row.durations = bytes(len(members)), rng.bytes(2 * len(members))
            rows.append(row)
        Report.objects.bulk_create(rows)
    _vacuum()
