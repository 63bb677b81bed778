"""Every pattern that meets text from outside, against a megabyte of text that was made to be slow."""

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest

import ingest
from ingest import signature
from ingest.junit import dialects, encoding, execution_order, lane, merging, outcomes, stable_names, suites, times
from ingest.junit.report import Attempt, Failure, ParsedReport
from ingest.verdict import Verdict
from tests.conftest import ROOT

MEGABYTE = 1_000_000
PART = MEGABYTE // 50
SECONDS = 0.05
LINEAR_SECONDS = 0.05
"""For a part of it, on any machine: what is not linear takes several times as long, and mostly a second or more."""

UNITS = (
    *("a", "1", "f", "/", "-", "é", "😀", "\n", "\t", " ", "@", "&", "<", "\\", "\x1b[", "0x", "/a", "a/", "-/", "1-"),
    *("1:", "1.", "1,1", "1e", "a0", "&#", "&#1", "&#x1", "&amp", "/>", "testcase>", "@abcdef", "0x123456", "12.5ms "),
    *("\nat a", "\nat a(", "\n\tat a.b(", "  at x:1:", '\nFile "', '\nFile "a", line ', "\na.py:", "\na.go:1", "\n./"),
    *(
        "2024-01-01",
        "2024-01-01T00:00",
        "12:34:",
        "1.1.1.1",
        "12345678-",
        "12345678-1234-1234-1234-",
        "-12345678901234",
    ),
    *("C:\\", "C:\\a ", "C:\\a\\Temp", "\\Temp\\", "/tmp/", "/private/var/", "/folders/", "_shard_", "_shard_1/"),
    *('"before', '"before all" hook', "setUp", "a\t", "[gw1] ", "worker 'gw", "<?xml ", "<?xml encoding=", "org.junit"),
)


@cache
def texts(size: int) -> list[tuple[str, str]]:
    """Made when a test wants them: every process that runs tests imports this."""
    return [(unit, (unit * (size // len(unit) + 1))[:size] + "!") for unit in UNITS]


def seconds(work: Callable[[], object], limit: float) -> float:
    """The best of up to four times: a loaded machine is slow now and then, a bad pattern always."""
    best = float("inf")
    for _ in range(4):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        if best < limit:
            break
    return best


def slow(work: Callable[[str], object], limit: float = SECONDS, size: int = MEGABYTE) -> list[tuple[str, float]]:
    """The texts that take too long; the first few are enough."""
    found = []
    for unit, text in texts(size):
        spent = seconds(lambda text=text: work(text), limit)  # type: ignore[misc]
        if spent >= limit:
            found.append((unit, round(spent, 3)))
        if len(found) == 3:
            break
    return found


def failure(text: str) -> Failure:
    return Failure(Verdict.FAIL, type=text, message=text, text=text)


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "duration": times.read_duration,
    "timestamp": lambda text: times.read_timestamp(text, zoneless_is_utc=True),
    "bazel attempt": lambda text: merging._BAZEL_ATTEMPT.search(text),
    "bazel shard": lambda text: stable_names._BAZEL_SHARD.sub("", text),
    "xdist worker": lambda text: execution_order._from_xdist(failure(text)),
    "declared encoding": lambda text: encoding._DECLARED.match(text[: encoding._HEAD].encode()),
    "cleaning a chunk": lambda text: encoding._cleaned(text[: encoding.CHUNK], last=False),
    "odd reference": lambda text: lane._ODD_REFERENCE.search(text),
    "file": stable_names.stable_file,
    "mocha": lambda text: dialects._mocha_names(text, text),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_megabyte_is_quick(function: Callable[[str], object]) -> None:
    assert slow(function) == []


@pytest.mark.parametrize("dialect", [*dialects.DIALECTS, dialects.UNKNOWN], ids=lambda dialect: dialect.producer)
def test_dialects_are_quick(dialect: dialects.Dialect) -> None:
    """A part of a megabyte: what is not linear takes long for that, too, and there are many of them."""
    judge = outcomes.Outcomes(ParsedReport(), suites.Tally(), 100)

    def judged(text: str) -> bool:
        return judge.is_no_test(text, text, text, [Attempt(Verdict.FAIL, failures=(failure(text),))], dialect)

    assert slow(judged, size=PART) == []


def test_recognition_is_quick() -> None:
    def recognised(text: str) -> dialects.Dialect:
        return dialects.recognise(
            dialects.Facts("testsuite", {"name": text}, {"name": text}, {"name": text}, {text: text})
        )

    assert slow(recognised) == []


def test_signatures_are_quick() -> None:
    assert slow(lambda text: signature.signature_of(text, text, text)) == []


def test_names_are_quick() -> None:
    assert slow(stable_names.stable_name) == []


def test_names_take_linear_time() -> None:
    for unit, text in texts(100_000):
        tenth, whole = (min(_time(text[:size]) for _ in range(2)) for size in (10_000, 100_000))
        assert whole < 40 * tenth + 0.05, unit


def _time(text: str) -> float:
    start = time.process_time()
    stable_names.stable_name(text)
    return time.process_time() - start


# -- every pattern there is ---------------------------------------------------------------------------------------


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(ingest.__path__, "ingest."):
        if ".migrations." not in found.name:
            yield importlib.import_module(found.name)


def patterns_in(value: object, depth: int = 0) -> "Iterator[re.Pattern[Any]]":
    """Those that a constant is, or holds in lists, dictionaries and dataclasses."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, dict):
        yield from (found for each in value.values() for found in patterns_in(each, depth + 1))
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        yield from (found for each in value for found in patterns_in(each, depth + 1))
    elif depth < 4 and is_dataclass(value) and not isinstance(value, type):
        each_field = (getattr(value, field.name, None) for field in fields(value))
        yield from (found for each in each_field for found in patterns_in(each, depth + 1))


PATTERNS = {
    f"{module.__name__}.{name}[{place}]": pattern
    for module in modules()
    for name, value in vars(module).items()
    for place, pattern in enumerate(patterns_in(value))
}
THROUGH_FUNCTIONS = {
    "ingest.junit.dialects": "test_dialects_are_quick, test_recognition_is_quick",
    "ingest.junit.keys.BROWSER": "test_dialects_are_quick",
    "ingest.junit.target.UNKNOWN": "test_dialects_are_quick",
    "ingest.junit.times": "read_duration and read_timestamp look at the length first",
    "ingest.junit.encoding._DECLARED": "a head at a time",
    "ingest.junit.stable_names": "test_names_are_quick",
    "ingest.junit.not_results._EMPTY": "matched at one place of the first 4,096 bytes",
    "ingest.formats.json_text._STRING": "matched where a string begins, and takes nothing back",
    "ingest.formats.tap._NO_TEST": "matched at the beginning of 3,000 characters at most",
}
"""Begin of a name -> what shows that it is quick as it is used."""


def test_no_module_with_patterns_is_left_out() -> None:
    sources = {path: path.read_text() for path in (ROOT / "ingest").rglob("*.py")}
    made = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path, text in sources.items()
        if re.search(r"^_?[A-Z_]+(?:: [^=]+)? = re\.compile\(", text, re.MULTILINE)
    }
    assert len(made) > 15
    assert made <= {name.partition("[")[0].rpartition(".")[0] for name in PATTERNS}
    assert sum(name.startswith("ingest.redaction_rules.RULES") for name in PATTERNS) > 60


NAMES = {pattern: name for name, pattern in PATTERNS.items() if not name.startswith(tuple(THROUGH_FUNCTIONS))}
"""Each once: a module that imports a table has its patterns, too."""


@pytest.mark.parametrize("name", NAMES.values())
def test_every_pattern_there_is_takes_linear_time(name: str) -> None:
    """Found by looking into every module, so that a new one cannot be left out. A part of a megabyte is enough: what
    comes back to every character takes many times as long for it."""
    pattern = PATTERNS[name]
    binary = isinstance(pattern.pattern, bytes)

    def search(text: str) -> object:
        return pattern.search(text.encode("utf-8", "replace") if binary else text)

    assert slow(search, LINEAR_SECONDS, PART) == []
