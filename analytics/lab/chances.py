"""How likely a random order makes a test fail, by the partners that are known of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flakeboard.orders.outcomes import Brittle, Polluter, Victim, relevant
from flakeboard.orders.probability import ESTIMATED, chance_in_random_order, orders_for
from flakeboard.orders.suite import Case, Suite, case_of

from analytics.lab.dependencies import KnownDependency
from analytics.lab.models import Dependency
from analytics.lab.names import node_id_of
from analytics.wording import counted, percent, percents
from ingest.identity import TestName


@dataclass(frozen=True, slots=True)
class ExpectedShare:
    """The share of random orders in which a test fails."""

    value: float
    how: str
    """The case of the formula, or estimated."""
    fraction: str = ""
    interval: tuple[float, float] | None = None

    @property
    def orders(self) -> int | None:
        """Random orders that show a failure with 95 %."""
        return orders_for(Fraction(self.fraction) if self.fraction else self.value)

    @property
    def words(self) -> str:
        """The share, what it rests on, and how many orders it takes to see it."""
        if self.how == ESTIMATED:
            ends = f" ({percents(*self.interval)})" if self.interval else ""
            share = f"about {percent(self.value)}{ends} of random orders make it fail (estimated)"
        else:
            ground = f"{self.how}, by the partners that are known"
            share = f"{percent(self.value)} ({self.fraction}) of random orders make it fail ({ground})"
        if self.orders is None:
            return share
        return f"{share}; {counted(self.orders, 'random order shows', 'random orders show')} it with 95 %"


def expected_share(dependencies: Sequence[KnownDependency], names: Mapping[int, TestName]) -> ExpectedShare | None:
    """By the formulas where they hold, else as the experiment estimated it; None where nobody can tell."""
    if not dependencies:
        return None
    dependent = _dependent(dependencies)
    if dependent is None:
        return _estimated(dependencies)
    tests = sorted(relevant(dependent))
    place = {number: at for at, number in enumerate(tests)}
    suite = Suite(_case(names.get(number) or TestName(number)) for number in tests)
    chance = chance_in_random_order(suite, _placed(dependent, place))
    return ExpectedShare(float(chance.value), chance.how, str(chance.value))


def _dependent(dependencies: Sequence[KnownDependency]) -> Victim | Brittle | None:
    """What the formulas take: single partners, and polluters that share their cleaners and are none themselves."""
    test = dependencies[0].after
    single = all(len(dependency.before) == 1 for dependency in dependencies)
    roles = {dependency.role for dependency in dependencies}
    if not single or len(roles) > 1:
        return None
    partners = tuple(dict.fromkeys(dependency.before for dependency in dependencies))
    if roles == {Dependency.Role.SETTER}:
        return Brittle(test, partners)
    cleaners = {frozenset(dependency.cleaners) for dependency in dependencies}
    if len(cleaners) > 1 or any(partner[0] in next(iter(cleaners)) for partner in partners):
        return None
    return Victim(test, tuple(Polluter(partner, tuple(sorted(next(iter(cleaners))))) for partner in partners))


def _placed(dependent: Victim | Brittle, place: Mapping[int, int]) -> Victim | Brittle:
    def placed(tests: Sequence[int]) -> tuple[int, ...]:
        return tuple(place[test] for test in tests)

    if isinstance(dependent, Brittle):
        return Brittle(place[dependent.test], tuple(map(placed, dependent.setters)))
    polluters = (Polluter(placed(polluter.group), placed(polluter.cleaners)) for polluter in dependent.polluters)
    return Victim(place[dependent.test], tuple(polluters))


def _case(test: TestName) -> Case:
    """The test among its units; without a file, its class is one."""
    node_id = node_id_of(test)
    return case_of(node_id) if node_id else Case(f"{test.classname}::{test.name}::{test.number}", (test.classname,))


def _estimated(dependencies: Sequence[KnownDependency]) -> ExpectedShare | None:
    """What the newest experiment reported of it."""
    rows = [dependency.row for dependency in dependencies if dependency.row is not None]
    for row in sorted(rows, key=lambda row: row.last_at, reverse=True):
        if found := row.details.get("random_orders"):
            interval = found.get("interval")
            return ExpectedShare(found["value"], ESTIMATED, interval=tuple(interval) if interval else None)
    return None
