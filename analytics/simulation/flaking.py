"""Which tests fail, report after report: flaky ones by chance, order, hour or shared cause, broken ones always."""

from collections.abc import Sequence

import numpy as np

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.simulation.casting import TOGETHER, Breakage, Part, can_fail_at
from analytics.simulation.truth import Kind


class Flaking:
    """The flaky and the broken tests of a history, and the state that bursty ones are in in each environment."""

    def __init__(
        self, parts: Sequence[Part], breakages: Sequence[Breakage], environments: int, rng: np.random.Generator
    ) -> None:
        self._rng = rng
        self._flaky = len(parts)
        self.number: Ints = np.array([one.flake.number for one in parts] + [one.number for one in breakages], dtype=int)
        self._chance = np.array([part.chance for part in parts], dtype=float)
        self._again = np.array([part.flake.again for part in parts], dtype=float)
        self._since = np.array([part.flake.since for part in parts], dtype=int)
        self._until = np.array([part.flake.until for part in parts], dtype=int)
        self._where = np.array([part.environment for part in parts], dtype=int)
        self._hours = np.array([[can_fail_at(part, hour) for part in parts] for hour in range(24)], dtype=bool)
        self._group = np.array([part.flake.group for part in parts], dtype=int)
        self._strikes = np.array([part.chance for part in _one_a_group(parts)], dtype=float)
        kinds = np.array([part.flake.kind for part in parts], dtype=object)
        self._bursty, self._clustered = kinds == Kind.BURSTY, kinds == Kind.CLUSTER
        self._ordered = (kinds == Kind.VICTIM) | (kinds == Kind.BRITTLE)
        self._down = np.zeros((environments, self._flaky), dtype=bool)
        self._breakages = breakages

    def run(self, revision: int, environment: int, hour: int, ordered: Flags, retries: int) -> list[Flags]:
        """By test of `number`: what fails in the first attempt, then in each retry of those that failed."""
        able = (self._since <= revision) & (revision < self._until) & self._hours[hour]
        able &= (self._where < 0) | (self._where == environment)
        struck = self._struck()
        broken = np.array(
            [revision in one.revisions and one.environment in (-1, environment) for one in self._breakages], dtype=bool
        )
        attempts: list[Flags] = []
        tried = np.ones(self._flaky, dtype=bool)
        for _ in range(retries + 1):
            failing = tried & able & self._one_attempt(environment, ordered, struck)
            self._down[environment, tried] = failing[tried]
            attempts.append(np.concatenate([failing, broken]))
            tried = failing
        return attempts

    def _struck(self) -> Flags:
        """By flaky test: whether the cause that it shares strikes in this report."""
        groups = self._rng.random(len(self._strikes)) < self._strikes
        return np.asarray(np.append(groups, False)[self._group])

    def _one_attempt(self, environment: int, ordered: Flags, struck: Flags) -> Flags:
        chance: Floats = np.where(self._bursty & self._down[environment], self._again, self._chance)
        chance = np.where(self._clustered, struck * TOGETHER, chance)
        return np.where(self._ordered, ordered, self._rng.random(self._flaky) < chance)


def _one_a_group(parts: Sequence[Part]) -> list[Part]:
    return list({part.flake.group: part for part in parts if part.flake.group >= 0}.values())
