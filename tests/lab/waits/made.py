"""A made wait: what it needs is drawn, and a search is run against it without any process."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from flakeboard.waits.search import SLEEP, Search


@dataclass
class MadeWait:
    """A worker that needs `needed` seconds, more or less; beside that it fails by chance."""

    needed: float
    jitter: float = 0.1
    chance: float = 0.0
    seed: int = 1
    made: list[float] = field(default_factory=list)
    """The values of all runs, in order."""

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)

    def fails(self, value: float) -> bool:
        self.made.append(value)
        needed = self.needed * (1 + self._draw.uniform(-self.jitter, self.jitter))
        return value < needed or self._draw.random() < self.chance

    def search(self, now: float, kind: str = SLEEP, runs: int = 100, margin: float = 0.03, most: int = 10**9) -> Search:
        """The search, cut short after so many runs."""
        search = Search(now, kind, runs, margin, self.seed)
        for batch in search.batches():
            for value in batch:
                if len(self.made) >= most:
                    return search
                search.add(value, self.fails(value), 0.01 + value)
        return search
