"""The order that a job should run next: kept in memory as long as nothing new is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flakeboard.orders.next_order import next_order, order_digest
from flakeboard.orders.pairs import MOST_TESTS

from analytics.lab.known_orders import basis_of, known_orders, newest_order_report, suite_of
from ingest.identity import TestName
from ingest.models import Project


class NoRoster(Exception):
    """No whole report of the job is there."""


class TooManyTests(Exception):
    """More tests than pairs are kept of."""

    def __init__(self, tests: int) -> None:
        super().__init__(tests)
        self.tests = tests


@dataclass(frozen=True, slots=True)
class Proposal:
    goal: str
    seed: str
    why: str
    names: Sequence[TestName]
    """In the proposed order."""
    seen: int
    pairs: int
    this_order: int
    """Pairs that this order shows for the first time."""
    orders_left: int


def proposal(project: Project, goal: str, job: str, environment: Mapping[str, str]) -> Proposal:
    """Raises NoRoster or TooManyTests."""
    basis = basis_of(project, job, environment)
    if basis is None:
        raise NoRoster
    if len(basis.numbers) > MOST_TESTS:
        raise TooManyTests(len(basis.numbers))
    version = (basis.report, newest_order_report(project))
    return _proposal(project.pk, goal, job, tuple(sorted(environment.items())), version)


@lru_cache(maxsize=64)
def _proposal(
    project_id: int, goal: str, job: str, environment: tuple[tuple[str, str], ...], version: tuple[int, int]
) -> Proposal:
    project = Project.objects.get(pk=project_id)
    basis = basis_of(project, job, dict(environment))
    if basis is None:
        raise NoRoster
    suite, names = suite_of(project, basis)
    known = known_orders(project, basis)
    reverse = {order_digest(suite, known.newest[::-1])} if known.newest is not None and known.reverse_known else set()
    answer = next_order(suite, known.seen, known.newest, known.newest_passed, reverse, known.count, goal)
    size = len(suite)
    return Proposal(
        goal=answer.goal,
        seed=answer.seed,
        why=answer.why,
        names=[names[place] for place in answer.order],
        seen=len(known.seen),
        pairs=size * (size - 1),
        this_order=answer.new_pairs,
        orders_left=answer.orders_left,
    )
