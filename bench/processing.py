"""Processing, from stored bytes to committed vectors, against Django's bulk_create of a row for each result."""

import io
import statistics
import time
from collections.abc import Iterator

from django.db import connection, models, transaction

from bench.outcome import Outcome
from bench.suites import document
from bench.uploads import become_worker, process, receive, send
from ingest.interning import tests_intern
from ingest.junit.reading import read_report
from ingest.models import Project, Report
from ingest.services import project_create

CASES = 50_000
ROUNDS = 7


class Result(models.Model):
    """The usual design: a row for each result, indexed by test."""

    report = models.ForeignKey(Report, models.CASCADE, db_constraint=False)
    test = models.IntegerField(db_index=True)
    verdict = models.SmallIntegerField()
    duration = models.FloatField(null=True)
    message = models.TextField(blank=True)

    class Meta:
        app_label = "bench"


def baseline(project: Project, data: bytes, number: int) -> None:
    """The same reader and test ids; only the storage differs."""
    from django.utils import timezone

    report = read_report(lambda: io.BytesIO(data))
    tests = tests_intern(project_id=project.pk, keys=report.keys, files=report.files, seen_at=timezone.now())
    rows = [
        Result(
            report_id=number,
            test=int(test),
            verdict=verdict,
            duration=duration,
            message=report.attempts[row][-1].failures[0].message if row in report.attempts else "",
        )
        for row, (test, verdict, duration) in enumerate(
            zip(tests.numbers, report.verdicts, report.durations, strict=True)
        )
    ]
    with transaction.atomic():
        Result.objects.bulk_create(rows, batch_size=5_000)


def run() -> Iterator[Outcome]:
    become_worker()
    project = project_create(slug="processing", name="Processing")
    with connection.schema_editor() as editor:
        editor.create_model(Result)
    send(project, [("warm.xml", document(range(CASES)))], build_id="warm")
    vectors, rows, cpu = [], [], []
    for build in range(ROUNDS):
        data = document(range(CASES), seed=build + 1)
        upload = receive(project, [("report.xml", data)], build_id=str(build))
        began, began_cpu = time.perf_counter(), time.process_time()
        process(upload)
        vectors.append(time.perf_counter() - began)
        cpu.append(time.process_time() - began_cpu)
        began = time.perf_counter()
        baseline(project, data, build)
        rows.append(time.perf_counter() - began)
    ours, theirs = statistics.median(vectors), statistics.median(rows)
    yield Outcome("results a second, bytes to committed", CASES / ours, aim="aim: 200,000 on one core")
    yield Outcome("results a second of the worker's own processor time", CASES / statistics.median(cpu))
    yield Outcome("speed against bulk_create, a row per result", theirs / ours, "times", least=5)
