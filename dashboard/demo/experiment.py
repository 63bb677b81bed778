"""The demo's experiment: the simulated suite in other orders, and what `flakeboard detect` would report of it."""

import io
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Any

from flakeboard.orders.configurations import order_of
from flakeboard.orders.outcomes import Brittle, Victim, brittle_of, fails, victim_of
from flakeboard.orders.probability import chance_in_random_order
from flakeboard.orders.suite import Case, Suite

from analytics.simulation import History
from analytics.simulation.builds import NEVER
from analytics.simulation.truth import Kind
from dashboard.notify.experiments import conclude
from ingest.bundle import BundleWriter
from ingest.lab.services import experiment_begin, experiment_finish
from ingest.metadata import RunMetadata
from ingest.models import Experiment, Project, Upload
from ingest.processing import upload_process
from ingest.services import Body, upload_receive

KEY = "demo"
_SEED = "demo"
_ROUNDS = 10


def demo_experiment(project: Project, history: History) -> None:
    """Announce it, send its orders and end it. Safe to run again."""
    suite, dependents = _suite(history)
    began = project.created_at - timedelta(hours=6)
    parameters = {"command": ["pytest", "tests/"], "orders": _ROUNDS, "cleaners": "all"}
    experiment, _ = experiment_begin(
        project=project,
        key=KEY,
        protocol=Experiment.Protocol.ORDERS,
        parameters=parameters,
        seed=_SEED,
        revision={"commit": "f" * 40, "branch": project.default_branch},
        environment={"os": "linux"},
        host="laboratory",
    )
    orders = list(_orders(suite))
    _send(experiment, [_file(suite, dependents, began, *order) for order in orders], began)
    experiment.refresh_from_db()
    Experiment.objects.filter(pk=experiment.pk).update(began_at=began)
    experiment.began_at = began
    finished = experiment_finish(experiment=experiment, result=_result(suite, dependents))
    Experiment.objects.filter(pk=finished.pk).update(ended_at=began + timedelta(minutes=12))
    conclude(finished)


def _suite(history: History) -> tuple[Suite, list[Victim | Brittle]]:
    """The tests that are there at the end, class by class, and those that depend on others by the simulator's truth.

    All of them pass in the original order, as `detect` demands."""
    cast = history.ran.cast
    names = [(number, test) for number, test in enumerate(cast.names.tests) if cast.gone[number] == NEVER]
    names.sort(key=lambda pair: (pair[1][1], pair[0]))
    place = {number: at for at, (number, _) in enumerate(names)}
    suite = Suite(Case(f"{test[1]}::{test[2]}", (test[1],)) for _, test in names)
    dependents: list[Victim | Brittle] = []
    for flake in history.truth.flakes.values():
        partners = [place[number] for number in flake.partners if number in place]
        if flake.number in place and partners and flake.kind is Kind.VICTIM:
            cleaners = [place[number] for number in flake.cleaners if number in place]
            dependents.append(victim_of(place[flake.number], partners, cleaners))
        elif flake.number in place and partners and flake.kind is Kind.BRITTLE:
            dependents.append(brittle_of(place[flake.number], partners))
    usual = list(range(len(suite)))
    passing = [dependent for dependent in dependents if not fails(usual, dependent)]
    return suite, [*passing, _latent(suite, history, place)]


def _latent(suite: Suite, history: History, place: dict[int, int]) -> Victim:
    """A stable test of the first class that fails behind one of the last class: CI has not seen it fail yet."""
    flaky = {place[number] for number in history.truth.flakes if number in place}
    broken = {place[regression.number] for regression in history.truth.regressions if regression.number in place}
    free = [at for at in range(len(suite)) if at not in flaky | broken]
    return victim_of(free[0], [free[-1]])


def _orders(suite: Suite) -> Iterator[tuple[int, str, list[int]]]:
    """Round, how, and the places of the tests."""
    yield 0, "original-order", list(range(len(suite)))
    yield 1, "reverse-class-method", order_of(suite, "reverse-class-method", _SEED, 1)
    for round_ in range(2, _ROUNDS + 1):
        yield round_, "random-class-method", order_of(suite, "random-class-method", _SEED, round_)


def _file(
    suite: Suite, dependents: Sequence[Victim | Brittle], began: datetime, round_: int, how: str, order: list[int]
) -> tuple[str, bytes]:
    """The report of a whole order."""
    failed = {dependent.test for dependent in dependents if fails(order, dependent)}
    stated = {"order": "executed", "experiment": KEY, "round": round_, "how": how, "seed": _SEED if round_ > 1 else ""}
    properties = "".join(f'<property name="flakeboard.{name}" value="{value}"/>' for name, value in stated.items())
    cases = "".join(_case(suite.cases[place], place in failed) for place in order)
    at = (began + timedelta(minutes=max(round_, 0))).isoformat()
    head = f'<testsuite name="pytest" tests="{len(order)}" timestamp="{at}" hostname="laboratory">'
    document = f"<testsuites>{head}<properties>{properties}</properties>{cases}</testsuite></testsuites>"
    return f"order-{round_}.xml", document.encode()


def _case(case: Case, failed: bool) -> str:
    classname, _, name = case.id.partition("::")
    words = '<failure message="AssertionError: somebody was here before">assert [1] == []</failure>' if failed else ""
    return f'<testcase classname="{escape(classname)}" name="{escape(name)}" time="0.021">{words}</testcase>'


def _send(experiment: Experiment, files: Sequence[tuple[str, bytes]], at: datetime) -> None:
    with io.BytesIO() as bundle:
        writer = BundleWriter(bundle.write)
        size = sum(writer.add(name, iter([content])) for name, content in files)
        body = Body(bundle, writer.digest(), size, len(files))
        metadata = RunMetadata(commit=experiment.commit, branch=experiment.branch, experiment=KEY)
        upload, _ = upload_receive(
            project=experiment.project, body=body, metadata=metadata, experiment=experiment, stated_at=at
        )
    if upload.state in Upload.WAITING:
        upload_process(upload_id=upload.pk)


def _result(suite: Suite, dependents: Sequence[Victim | Brittle]) -> dict[str, Any]:
    return {
        "ended": "orders",
        "tests": len(suite),
        "found": [_found(suite, dependent) for dependent in dependents],
        "not_run": [],
    }


def _found(suite: Suite, dependent: Victim | Brittle) -> dict[str, Any]:
    chance = chance_in_random_order(suite, dependent)
    is_victim = isinstance(dependent, Victim)
    groups = (
        [
            {"role": "polluter", "tests": suite.names(polluter.group), "cleaners": suite.names(polluter.cleaners)}
            for polluter in dependent.polluters
        ]
        if isinstance(dependent, Victim)
        else [{"role": "state-setter", "tests": suite.names(setter)} for setter in dependent.setters]
    )
    return {
        "test": suite.cases[dependent.test].id,
        "kind": "OD",
        "role": "victim" if is_victim else "brittle",
        "alone": {"passed": 10 if is_victim else 0, "of": 10},
        "random_orders": {"value": str(chance.value), "how": "exact"},
        "groups": [{**group, "failed" if is_victim else "passed": 3, "of": 3} for group in groups],
    }
