"""Orders that need no server: by a seed, or as a file lists them."""

from __future__ import annotations

from typing import Sequence

from flakeboard.orders.seeded import seeded_order
from flakeboard.orders.suite import Suite, case_of
from flakeboard.problems import Problem
from flakeboard.schedules.schedule import Schedule

_LARGEST = 64 * 1024 * 1024


def seeded(node_ids: Sequence[str], seed: str) -> Schedule:
    """A random order of units and of the tests in them, the same for the same seed and tests."""
    order = seeded_order(Suite(map(case_of, node_ids)), seed, 0)
    return Schedule(order, f"random order of {len(order):,} tests, seed {seed!r}.")


def names_in(path: str) -> list[str]:
    """The node ids of a file, one a line; blank lines and those that begin with # say nothing."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read(_LARGEST).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read: {getattr(error, 'strerror', '') or 'it is no UTF-8'}") from None
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    known: set[str] = set()
    for name in names:
        if name in known:
            raise Problem(f"{path} names {name} twice")
        known.add(name)
    return names


def listed(node_ids: Sequence[str], names: Sequence[str], path: str) -> Schedule:
    """The listed tests in the order of the file, then those that it does not name in their original order."""
    place_of = {node_id: place for place, node_id in enumerate(node_ids)}
    order = [place_of[name] for name in names if name in place_of]
    chosen = set(order)
    others = [place for place in range(len(node_ids)) if place not in chosen]
    missing = [name for name in names if name not in place_of]
    warnings = [f"{path} names {len(missing):,} tests that were not collected, such as {missing[0]}"] if missing else []
    if others:
        warnings.append(f"{path} does not name {len(others):,} of the collected tests: they run last")
    return Schedule([*order, *others], f"order of {path}.", [], warnings)
