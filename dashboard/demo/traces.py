"""The demo's traced test: what its executions in CI did, and what `flakeboard why` showed of it."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from flakeboard.traces.trace import FAILED, PASSED, Event, Site, TraceFile
from flakeboard.traces.trace import Trace as RecordedTrace

from analytics.lab.names import reference_of
from analytics.simulation import History
from analytics.simulation.truth import Kind
from analytics.why.services import differences_refresh
from dashboard.notify.experiments import conclude
from ingest.lab.services import experiment_begin, experiment_finish
from ingest.lab.trace_files import packed_alone
from ingest.models import Experiment, Project, Run, Test, Trace
from ingest.selectors import Execution, test_history
from ingest.verdict import Verdict

KEY = "demo-why"
_FAILING, _PASSING = 14, 40
_ENOUGH = 3
"""Failures; of tests with so many an async one is taken."""
_LIMIT = 0.5
"""Seconds that the test waits for its worker."""


def demo_traces(project: Project, history: History) -> None:
    """Trace a test where it failed most, and end an experiment on it. Safe to run again."""
    found = max(_candidates(project, history), key=_usefulness, default=None)
    if found is None:
        return
    test, executions, _ = found
    failing = {each.report_id for each in _failing(executions)}
    passing = [each for each in executions if each.verdict is Verdict.PASS and each.report_id not in failing]
    chosen = [*_failing(executions)[:_FAILING], *passing[:_PASSING]]
    rows = [_row(project, test, each, each.report_id in failing, number) for number, each in enumerate(chosen)]
    Trace.objects.bulk_create(rows, ignore_conflicts=True)
    differences_refresh(project_id=project.pk)
    _experiment(project, test)


_Candidate = tuple[Test, list[Execution], bool]
"""A test, its executions in one environment, and whether it is async by the simulator's truth."""


def _usefulness(candidate: _Candidate) -> tuple[int, bool, int]:
    _, executions, is_async = candidate
    failures = len(_failing(executions))
    return min(failures, _ENOUGH), is_async, failures


def _candidates(project: Project, history: History) -> Iterator[_Candidate]:
    """Tests that fail by chance, each by environment: others are not compared with it."""
    for flake in history.truth.flakes.values():
        classname, name = history.names[flake.number][1:3]
        test = Test.objects.filter(project=project, classname=classname, name=name).first()
        if flake.kind not in (Kind.ASYNC, Kind.INDEPENDENT, Kind.BURSTY) or test is None:
            continue
        executions = list(test_history(test))
        runs = Run.objects.filter(pk__in={each.run_id for each in executions})
        where = {run: json.dumps(environment) for run, environment in runs.values_list("pk", "environment")}
        for environment in sorted(set(where.values())):
            own = [each for each in executions if where[each.run_id] == environment]
            yield test, own, flake.kind is Kind.ASYNC


def _failing(executions: Sequence[Execution]) -> list[Execution]:
    """Also those that a retry saved: their first attempt failed."""
    return [each for each in executions if each.verdict.failing or each.retried]


def _file_of(test: Test) -> str:
    """Where pytest would look for it."""
    return f"tests/{_CAPITAL.sub('_', test.classname.rpartition('.')[2]).lower()}.py"


_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _row(project: Project, test: Test, execution: Execution, failed: bool, number: int) -> Trace:
    file = _recorded(test, failed, number)
    content = packed_alone(file)
    return Trace(
        project=project,
        test=test,
        run_id=execution.run_id,
        outcome=Trace.Outcome.FAILED if failed else Trace.Outcome.PASSED,
        raised="AssertionError" if failed else "",
        level=file.level,
        python=file.python,
        events=len(file.traces[0].events),
        digest=number.to_bytes(16, "big"),
        content=content,
        received_at=project.created_at,
    )


def _recorded(test: Test, failed: bool, number: int) -> TraceFile:
    """The test starts a worker, which draws how long it takes, and waits for it half a second at most."""
    draw = random.Random(number)  # noqa: S311 - the demo is the same each time
    work = draw.uniform(0.52, 0.9) if failed else draw.uniform(0.05, 0.45)
    own = _file_of(test)
    sites = [
        Site(own, test.name, "threading.Thread.start", 1, 31),
        Site("shop/worker.py", "Worker.run", "random.uniform", 1, 18),
        Site(own, test.name, "threading.Event.wait", 1, 33),
        Site("shop/worker.py", "Worker.run", "threading.Event.set", 1, 22),
    ]
    waited = int(min(work, _LIMIT) * 1e6) + draw.randrange(400)
    events = [
        Event(0, 0, None, 150, 60),
        Event(1, 1, round(work, 6), 240, 3),
        Event(2, 0, not failed, 260, waited),
        Event(3, 1, None, 250 + int(work * 1e6), 4),
    ]
    outcome = (FAILED, "AssertionError", 300 + waited) if failed else (PASSED, "", None)
    facts = {"hash": draw.randrange(2**31), "zone": "UTC", "is_first": False, "position": draw.randrange(900)}
    made = RecordedTrace("", 1, *outcome, ("main", "main/Worker.run#1"), tuple(events), facts=facts)
    return TraceFile("sources", "3.12.1", "", {"cores": 2}, sites, [], [made])


def _experiment(project: Project, test: Test) -> None:
    node_id = reference_of(test.test_name)
    experiment, _ = experiment_begin(
        project=project,
        key=KEY,
        protocol=Experiment.Protocol.WHY,
        parameters={"test": node_id},
        seed=KEY,
        revision={"commit": "f" * 40, "branch": project.default_branch},
        environment={"os": "linux"},
        host="laboratory",
        whole=False,
    )
    began = project.created_at - timedelta(hours=3)
    Experiment.objects.filter(pk=experiment.pk).update(began_at=began)
    finished = experiment_finish(experiment=experiment, result=_answer(_file_of(test), test.name, node_id))
    Experiment.objects.filter(pk=finished.pk).update(ended_at=began + timedelta(minutes=4))
    conclude(finished)


def _answer(file: str, name: str, node_id: str) -> dict[str, Any]:
    tried = {"held": {"failed": 0, "of": 10}, "forced": {"failed": 10, "of": 10}, "p": 5.4e-6, "is_shown": True}
    site: Sequence[Any] = [file, name, "threading.Event.wait", 1, 33]
    place = f"`Event.wait` ({file}:33, call 1)"
    recipe = f"why-{name}.json"
    return {
        "test": node_id,
        "ended": "done",
        "is_reproduced": True,
        "verdict": "explained",
        "sentence": f"It fails by async wait: {place}. Held: 0 of 10 failed. Forced: 10 of 10.",
        "runs": {"failing": 6, "passing": 20},
        "differences": [
            {
                "sentence": f"In all 6 failing runs and none of 20 passing ones {place} returned False.",
                "category": "async wait",
                "kind": "value",
                "site": site,
                "failing": {"x": 6, "of": 6},
                "passing": {"x": 0, "of": 20},
                "separation": 1.0,
                "chance": 0.002,
                "tier": 1,
                "tried": tried,
            }
        ],
        "recipes": [
            {"what": "nothing", "side": "plain", "failed": 6, "of": 26},
            {"what": "the wait's bound", "side": "held", "failed": 0, "of": 10},
            {"what": "the wait's bound", "side": "forced", "failed": 10, "of": 10},
        ],
        "forced": {"flakeboard_recipe": 1, "test": node_id, "calls": [{"site": list(site[:4]), "do": "bound"}]},
        "reproduction": f"pytest {node_id} --flakeboard-recipe={recipe}",
        "recipe": recipe,
    }
