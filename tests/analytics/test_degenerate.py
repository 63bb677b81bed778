"""Little, odd or no data: true, empty or "not enough data" answers, and no warning on the way."""

import json

import numpy as np
import pytest

from analytics.columns import schema
from analytics.findings import groups, summary, tests
from analytics.kernel.analysis import Analysis, analyse
from analytics.kernel.assembly import Assembly
from analytics.kernel.flakiness import State
from analytics.kernel.window import Reports, SignatureRows, Window, no_attempts
from analytics.loaders import Loaded
from analytics.services import analysis_refresh
from ingest.models import Project
from ingest.verdict import Verdict
from tests.conftest import Send

P, F, E, S = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.SKIP
ABSENT = -1


def window(rows: list[list[int]], *, revision: list[int] | None = None) -> Window:
    """Reports x tests of verdicts; all of the default branch, an hour apart."""
    outcomes = np.array(rows, dtype=np.int64).reshape(len(rows), len(rows[0]) if rows else 0)
    count, size = outcomes.shape
    failing = np.isin(outcomes, (F, E))
    report, number = np.nonzero(failing)
    assembly = Assembly(size, np.unique(number), count)
    for at, verdicts in enumerate(outcomes):
        there = np.flatnonzero(verdicts != ABSENT)
        assembly.add(at, there, verdicts[there].astype(np.uint8), np.full(len(there), np.nan, dtype=np.float32))
    none = np.zeros(count, dtype=np.int64)
    reports = Reports(
        started=3600.0 * np.arange(count),
        revision=np.array(revision if revision is not None else range(count), dtype=np.int64),
        environment=none,
        host=none - 1,
        run=np.arange(count),
        default_branch=np.ones(count, dtype=bool),
        pull_request=np.zeros(count, dtype=bool),
        branch=none,
        order=none - 1,
        errors=none.astype(bool),
        executed=none,
        seconds=none.astype(np.float64),
        decided=none,
    )
    signed = SignatureRows(number, report, np.zeros(len(number), dtype=np.int64), np.zeros(len(number), dtype=np.int64))
    texts = ("AssertionError",) if len(number) else ()
    suite = np.zeros(size, dtype=np.int64)
    return assembly.build(reports, no_attempts(), signed, suite=suite, signatures=texts, orders=(), excluded={})


def stored(found: Analysis) -> dict[str, object]:
    """All that is kept of an analysis, as JSON would hold it: NaN is refused."""
    reports = np.arange(len(found.window.reports))
    loaded = Loaded(found.window, reports, reports, [], [{}], [], ["s"], [], [1], None, None)
    kept = {
        "summary": summary.summary(found, loaded),
        "tests": {number: json.loads(text) for number, text in tests.tests(found, loaded)},
        "clusters": list(groups.clusters(found, loaded)),
        "incidents": list(groups.incidents(found, loaded)),
        "priorities": groups.priorities(found),
        "columns": {name: column.dtype.name for name, column in schema.columns(found).items()},
    }
    json.dumps(kept, allow_nan=False)
    return kept


CASES = {
    "no reports": [],
    "one report": [[P, F, S]],
    "all failing": [[F] * 4] * 6,
    "all skipped": [[S] * 3] * 5,
    "one test": [[P], [F], [P]],
    "one execution": [[P]],
    "one failure": [[F]],
    "a test that never ran": [[P, ABSENT], [F, ABSENT]],
    "all absent": [[ABSENT, ABSENT]],
    "errors alone": [[E, E], [P, E]],
}


@pytest.mark.parametrize("name", CASES)
def test_odd_windows_give_whole_answers(name: str) -> None:
    kept = stored(analyse(window(CASES[name])))
    assert kept["summary"]


def test_no_reports_say_nothing() -> None:
    found = analyse(window([]))
    assert found.state.tolist() == [] and len(found.priority) == 0 and found.blocked.count == 0
    told = stored(found)["summary"]
    assert told["runs"]["total"] == 0 and told["days"] == [] and told["most"] is None
    assert told["retries"]["recommended"] is None and told["exposure"]["median"] is None


def test_skips_and_absences_are_no_executions() -> None:
    found = analyse(window([[S, P, ABSENT], [S, P, ABSENT]]))
    assert [State(one) for one in found.state] == [State.UNEXECUTED, State.STABLE, State.UNEXECUTED]
    assert np.isnan(found.rates.rate[0]) and found.rates.rate[1] == 0
    assert 0.8 < found.rates.high[1] < 0.9, "two passes exclude little"


def test_all_failing_from_the_start_is_broken_and_not_flaky() -> None:
    found = analyse(window([[F] * 4] * 6))
    assert set(found.state.tolist()) == {State.BROKEN}
    assert not found.failed.is_flaky.any() and len(found.clusters.size) == 0


def test_one_contradiction_is_flaky_with_wide_numbers() -> None:
    found = analyse(window([[P], [F]], revision=[0, 0]))
    assert found.state.tolist() == [State.FLAKY]
    assert found.rates.low[0] < 0.02 and found.rates.high[0] > 0.98
    assert found.failed.to_get_past[0] == 0, "nothing is known of reruns: no number"


def test_reports_of_no_revision_make_nothing_flaky() -> None:
    found = analyse(window([[P], [F], [P]], revision=[-1, -1, -1]))
    assert found.state.tolist() == [State.SUSPECT]


def test_a_roster_of_a_million_tests_with_two_reports() -> None:
    size = 1_000_000
    first, second = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    second[[5, 500_000]] = F
    found = analyse(window([first.tolist(), second.tolist()], revision=[0, 0]))
    assert found.window.failing.tolist() == [5, 500_000]
    assert np.flatnonzero(found.state).tolist() == [5, 500_000]
    assert len(schema.columns(found)["number"]) == size


def test_an_empty_project_is_analysed(project: Project) -> None:
    made = analysis_refresh(project=project)
    assert (made.reports, made.tests, made.since) == (0, 0, None)


def test_names_that_json_and_postgresql_mind_are_stored(project: Project, send: Send) -> None:
    hostile = "\ud7ff\u202e\x7f<script>'\"\\"
    case = "<testsuite name='s'><testcase classname='c' name='t'>{}</testcase></testsuite>"
    escaped = hostile.replace("<", "&lt;").replace("'", "&apos;").replace('"', "&quot;")
    for build, content in enumerate(("", f"<failure message='{escaped}'/>")):
        send(case.format(content).encode(), build_id=str(build), commit="a", environment={hostile: hostile})
    made = analysis_refresh(project=project)
    assert made.test_findings.get().data["environments"][0]["environment"] == {hostile: hostile}
