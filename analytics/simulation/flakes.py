"""Which tests fail in each report: flaky ones by chance, order, hour or shared cause, broken ones always."""

from collections.abc import Sequence

import numpy as np

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.simulation.breakages import Breakage
from analytics.simulation.cast import TOGETHER, Part, can_fail_at
from analytics.simulation.truth import Kind


class FlakyTests:
    """The flaky and broken tests of a history, with the state of bursty ones in each environment."""

    def __init__(
        self, parts: Sequence[Part], breakages: Sequence[Breakage], environments: int, rng: np.random.Generator
    ) -> None:
        self._rng = rng
        self._flaky = len(parts)
        self.number: Ints = np.array(
            [item.flake.number for item in parts] + [item.number for item in breakages], dtype=int
        )
        self._chance = np.array([part.chance for part in parts], dtype=float)
        self._again = np.array([part.flake.again for part in parts], dtype=float)
        self._since = np.array([part.flake.since for part in parts], dtype=int)
        self._until = np.array([part.flake.until for part in parts], dtype=int)
        self._where = np.array([part.environment for part in parts], dtype=int)
        self._hours = np.array([[can_fail_at(part, hour) for part in parts] for hour in range(24)], dtype=bool)
        self._group = np.array([part.flake.group for part in parts], dtype=int)
        self._strikes = _chances_by_group(parts)
        kinds = np.array([part.flake.kind for part in parts], dtype=object)
        self._bursty, self._clustered = kinds == Kind.BURSTY, kinds == Kind.CLUSTER
        self._ordered = (kinds == Kind.VICTIM) | (kinds == Kind.BRITTLE)
        self._down = np.zeros((environments, self._flaky), dtype=bool)
        self._breakages = breakages

    def run(
        self, revision: int, environment: int, at: int, here: Flags, ordered: Flags, struck: Flags, retries: int
    ) -> list[Flags]:
        """By test of `number`: failures of the first attempt, then of each retry.

        `here`: whether the report has the test; `struck`: whether its shared cause strikes."""
        able = (self._since <= revision) & (revision < self._until) & self._hours[at // 3600 % 24]
        able &= (self._where < 0) | (self._where == environment)
        broken = np.array([breakage.fails(revision, environment, at) for breakage in self._breakages], dtype=bool)
        broken &= here[self._flaky :]
        attempts: list[Flags] = []
        tried = here[: self._flaky]
        for _ in range(retries + 1):
            failing = tried & able & self._one_attempt(environment, ordered, struck)
            self._down[environment, tried] = failing[tried]
            attempts.append(np.concatenate([failing, broken]))
            tried = failing
        return attempts

    def strike(self) -> Flags:
        """By flaky test: whether its shared cause strikes."""
        groups = self._rng.random(len(self._strikes)) < self._strikes
        return np.asarray(np.append(groups, False)[self._group])

    def _one_attempt(self, environment: int, ordered: Flags, struck: Flags) -> Flags:
        chance: Floats = np.where(self._bursty & self._down[environment], self._again, self._chance)
        chance = np.where(self._clustered, struck * TOGETHER, chance)
        return np.where(self._ordered, ordered, self._rng.random(self._flaky) < chance)


def _chances_by_group(parts: Sequence[Part]) -> Floats:
    """By number of the group, which are numbered from 0: the chance that its cause strikes."""
    chance = {part.flake.group: part.chance for part in parts if part.flake.group >= 0}
    return np.array([chance[group] for group in sorted(chance)], dtype=float)
