"""Probes of an experiment: short orders of which the verdict of the last test counts. Pure."""

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.junit.problems import Refused

MOST_PROBES = 200_000
"""Probes kept of one experiment; those beyond are counted."""
VERDICTS = "PFES-"
"""Pass, fail, error, skip, and not run."""
_MOST_TESTS = 1_000_000
_LONGEST_NAME = 4_000
LONGEST_LINE = 16 * 1024 * 1024
_LONGEST_WORD = 20


@dataclass(frozen=True, slots=True)
class Probe:
    number: int
    order: tuple[int, ...]
    """Indexes of tests."""
    verdict: str
    seconds: float | None
    purpose: str
    target: int | None
    """Index of the test that was looked at."""

    def line(self) -> str:
        return json.dumps([self.number, self.order, self.verdict, self.seconds, self.purpose, self.target])


@dataclass(slots=True)
class Probes:
    """The probes of one file."""

    iteration: int
    tests: list[str]
    probes: list[Probe] = field(default_factory=list)


def read_probes(lines: Iterable[bytes], key: str) -> Probes:
    """Read a file of probes; raises Refused where a line is not as agreed."""
    found: Probes | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        values = _object(line, number)
        if found is None:
            found = _head(values, key, number)
            continue
        if len(found.probes) >= MOST_PROBES:
            raise Refused("limit_probes", f"The file has more than {MOST_PROBES:,} probes.", number)
        found.probes.append(_probe(values, len(found.tests), number))
    if found is None:
        raise Refused("empty", "The file of probes is empty.")
    return found


def _object(line: bytes, number: int) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise Refused("bad_probes", f"A line is longer than {LONGEST_LINE:,} bytes.", number)
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused("bad_probes", "A line of the probes is not JSON.", number) from error
    if not isinstance(values, dict):
        raise Refused("bad_probes", "A line of the probes is no object.", number)
    return values


def _head(values: dict[str, Any], key: str, number: int) -> Probes:
    tests, iteration = values.get("tests"), values.get("iteration", 0)
    if values.get("experiment") != key:
        raise Refused("other_experiment", "The probes are of another experiment.", number)
    if not isinstance(tests, list) or len(tests) > _MOST_TESTS or not all(map(_is_name, tests)):
        raise Refused("bad_probes", "The first line must list the tests by name.", number)
    if not _is_whole(iteration):
        raise Refused("bad_probes", "The iteration must be a whole number.", number)
    return Probes(iteration, tests)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and "\0" not in name and name.isprintable()


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _probe(values: dict[str, Any], tests: int, line: int) -> Probe:
    number, order, verdict = values.get("n"), values.get("order"), values.get("verdict")
    seconds, purpose, target = values.get("seconds"), values.get("why", ""), values.get("for")
    if not _is_whole(number) or not isinstance(order, list) or not order:
        raise Refused("bad_probes", "A probe needs its number and its order.", line)
    if not all(_is_whole(test) and test < tests for test in order):
        raise Refused("bad_probes", "A probe's order names a test that the first line lacks.", line)
    if not isinstance(verdict, str) or len(verdict) != 1 or verdict not in VERDICTS:
        raise Refused("bad_probes", f"A probe's verdict is one of {', '.join(VERDICTS)}.", line)
    known = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 10**9
    word = purpose if isinstance(purpose, str) and purpose.isalpha() else ""
    looked_at = target if _is_whole(target) and target < tests else None
    return Probe(number, tuple(order), verdict, float(seconds) if known else None, word[:_LONGEST_WORD], looked_at)


# -- as they are stored ------------------------------------------------------------------------------------------


def packed(probes: Iterable[Probe]) -> bytes:
    return zlib.compress("\n".join(probe.line() for probe in probes).encode("ascii"))


def unpacked(content: bytes) -> Iterator[Probe]:
    for line in zlib.decompress(content).decode("ascii").splitlines():
        number, order, verdict, seconds, purpose, target = json.loads(line)
        yield Probe(number, tuple(order), verdict, seconds, purpose, target)
