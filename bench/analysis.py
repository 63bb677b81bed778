"""A whole analysis of ten million results, against the same rates, bursts and co-failures in SQL with a row a result."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from django.db import connection

from analytics.services import analysis_refresh
from bench.outcome import Outcome
from bench.stored_projects import Outcomes, gathered, project_with, scattered
from dashboard.celery import share_memory
from ingest.models import Project

TESTS, REPORTS, FAILING = 50_000, 200, 0.01
_SCRIPT = """
import sys, django
django.setup()
from analytics.services import analysis_refresh
from ingest.models import Project

def peak():
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

analysis_refresh(project=Project.objects.get(pk=int(sys.argv[1])))
print(peak())
"""
_RATES = """
    SELECT test, count(*) FILTER (WHERE verdict = 1) AS failed, count(*) AS executed
    FROM bench_row WHERE verdict <> 3 GROUP BY test
"""
_BURSTS = """
    SELECT test, max(length), count(*) FROM (
        SELECT test, count(*) AS length FROM (
            SELECT test, report, verdict,
                   row_number() OVER (PARTITION BY test ORDER BY report)
                   - row_number() OVER (PARTITION BY test, verdict ORDER BY report) AS island
            FROM bench_row WHERE verdict <> 3
        ) AS numbered WHERE verdict = 1 GROUP BY test, island
    ) AS bursts GROUP BY test
"""
_COFAILURES = """
    SELECT count(*), max(together) FROM (
        SELECT a.test AS first, b.test AS second, count(*) AS together
        FROM bench_row AS a JOIN bench_row AS b ON b.report = a.report AND b.test > a.test
        WHERE a.verdict = 1 AND b.verdict = 1 GROUP BY a.test, b.test
    ) AS pairs
"""


def run() -> Iterator[Outcome]:
    share_memory()  # as a worker does
    outcomes = gathered(TESTS, REPORTS, FAILING)
    small = project_with("analysis-small", gathered(TESTS // 10, REPORTS, FAILING))
    large = project_with("analysis", outcomes)
    _vacuum()
    least, ours = _seconds(small), _seconds(large)
    yield Outcome("results that fail", float(outcomes.mean()) * 100, "%")
    yield Outcome("a whole analysis of 10 million results", ours, "s", most=6)
    yield Outcome("growth from 1 to 10 million results", ours / least, "times", most=12)
    yield Outcome("peak memory of it", _peak(large), "MB", most=1_500)
    theirs = _by_sql(outcomes)
    yield Outcome("rates, bursts and co-failures by SQL over a row per result", theirs, "s")
    yield Outcome("speed against SQL", theirs / ours, "times", least=10)
    worst = project_with("analysis-scattered", scattered(TESTS, REPORTS, FAILING))
    _vacuum()
    yield Outcome("the same with failures scattered over 87 % of the tests", _seconds(worst, 1), "s", most=8)
    yield Outcome("peak memory of that", _peak(worst), "MB", most=600)


def _seconds(project: Project, rounds: int = 3) -> float:
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        analysis_refresh(project=project)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _peak(project: Project) -> int:
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-c", _SCRIPT, str(project.pk)]
    return int(subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout)


def _vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")


def _by_sql(outcomes: Outcomes) -> float:
    """The usual design: a row for each result, indexed by test and by report."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE UNLOGGED TABLE bench_row (report int, test int, verdict smallint, duration real)")
        for at, failed in enumerate(outcomes):
            cursor.execute(
                "INSERT INTO bench_row SELECT %s, ordinality - 1, verdict, 0.1 "
                "FROM unnest(%s::smallint[]) WITH ORDINALITY AS one(verdict, ordinality)",
                [at, failed.astype(int).tolist()],
            )
        cursor.execute("CREATE INDEX ON bench_row (test, report)")
        cursor.execute("CREATE INDEX ON bench_row (report) WHERE verdict = 1")
    _vacuum()
    began = time.perf_counter()
    with connection.cursor() as cursor:
        for query in (_RATES, _BURSTS, _COFAILURES):
            cursor.execute(query)
            cursor.fetchall()
        taken = time.perf_counter() - began
        cursor.execute("DROP TABLE bench_row")
    return taken
