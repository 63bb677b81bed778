"""The suites that all are measured on, each with what is known of its order-dependent tests."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.detection.planted import Shape, world_of
from bench.detection.subjects import SUBJECTS, Truth, unpacked
from tests.lab.detect.worlds import World, verdict, write_project

SMALL = Shape(files=8, each=5, brittles=1, plain=2, cleaned=2, groups=1, rates=(0.2,))


@dataclass(frozen=True, slots=True)
class KnownSuite:
    name: str
    dependent: frozenset[str]
    """Order-dependent tests."""
    is_partner: Callable[[str, Sequence[str]], bool]
    """Whether these tests, in this order, are what a test depends on."""
    write: Callable[[Path], Path]
    """Puts the project into a folder and returns its own."""


def known_suites(subjects: int, planted: int) -> Iterator[KnownSuite]:
    for name, truths in list(SUBJECTS.items())[-subjects:] if subjects else ():
        yield _subject(name, truths)
    for seed in range(planted):
        yield _planted(seed)


def _subject(name: str, truths: dict[str, Truth]) -> KnownSuite:
    def is_partner(test: str, tests: Sequence[str]) -> bool:
        truth = truths[test]
        return len(tests) == truth.group and (truth.group > 1 or tests[0] in truth.partners)

    return KnownSuite(name, frozenset(truths), is_partner, lambda folder: unpacked(name, folder))


def _planted(seed: int) -> KnownSuite:
    world, _, _ = world_of(seed, SMALL)

    def is_partner(test: str, tests: Sequence[str]) -> bool:
        return _shows(world, test, tests) and not any(
            _shows(world, test, [*tests[:at], *tests[at + 1 :]]) for at in range(len(tests))
        )

    dependent = frozenset(world.victims) | frozenset(world.brittles)
    return KnownSuite(f"planted-{seed}", dependent, is_partner, lambda folder: write_project(world, folder / "project"))


def _shows(world: World, test: str, tests: Sequence[str]) -> bool:
    """Whether the test ends otherwise after these than alone."""
    alone, after = (verdict(test, list(ran), world.victims, world.brittles) for ran in ((), tests))
    return alone != after
