"""Every pattern that meets text from outside, against a megabyte of text that was made to be slow."""

import re
import time
from collections.abc import Callable

import pytest

from ingest import signature
from ingest.junit import encoding, lane, merging, naming, ordering, recipes, rows, times
from ingest.junit.report import Failure
from ingest.verdict import Verdict

MEGABYTE = 1_000_000
SECONDS = 0.05

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


def texts() -> list[tuple[str, str]]:
    return [(unit, (unit * (MEGABYTE // len(unit) + 1))[:MEGABYTE] + "!") for unit in UNITS]


TEXTS = texts()


def seconds(work: Callable[[], object]) -> float:
    """The best of up to four times: a loaded machine is slow now and then, a bad pattern always."""
    best = float("inf")
    for _ in range(4):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
        if best < SECONDS:
            break
    return best


def slow(work: Callable[[str], object]) -> list[tuple[str, float]]:
    """The texts that take too long; the first few are enough."""
    found = []
    for unit, text in TEXTS:
        spent = seconds(lambda text=text: work(text))  # type: ignore[misc]
        if spent >= SECONDS:
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
    "bazel shard": lambda text: naming._BAZEL_SHARD.sub("", text),
    "xdist worker": lambda text: ordering._from_xdist(failure(text)),
    "declared encoding": lambda text: encoding._DECLARED.match(text[: encoding._HEAD].encode()),
    "cleaning a chunk": lambda text: encoding._cleaned(text[: encoding.CHUNK], last=False),
    "odd reference": lambda text: lane._ODD_REFERENCE.search(text),
    "file": naming.stable_file,
    "mocha": lambda text: recipes._mocha_names(text, text),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_megabyte_is_quick(function: Callable[[str], object]) -> None:
    assert slow(function) == []


@pytest.mark.parametrize("recipe", [*recipes.RECIPES, recipes.UNKNOWN], ids=lambda recipe: recipe.producer)
def test_recipes_are_quick(recipe: recipes.Recipe) -> None:
    assert slow(lambda text: rows._is_run_error(recipe, text, text, [failure(text)])) == []


def test_recognition_is_quick() -> None:
    def recognised(text: str) -> recipes.Recipe:
        return recipes.recognise(
            recipes.Facts("testsuite", {"name": text}, {"name": text}, {"name": text}, {text: text})
        )

    assert slow(recognised) == []


def test_signatures_are_quick() -> None:
    assert slow(lambda text: signature.signature_of(text, text, text)) == []


def test_names_are_quick() -> None:
    assert slow(naming.stable_name) == []


def test_names_take_linear_time() -> None:
    for unit, text in TEXTS:
        tenth, whole = (min(_time(text[:size]) for _ in range(2)) for size in (10_000, 100_000))
        assert whole < 40 * tenth + 0.05, unit


def _time(text: str) -> float:
    start = time.process_time()
    naming.stable_name(text)
    return time.process_time() - start


MODULES = (signature, naming, times, recipes, lane, encoding)
BOUNDED = {
    *("_FRAME", "_FRAMEWORK"),  # through signature_of
    *("_THOUSANDS", "_WITH_UNIT", "_DECIMAL_COMMA", "_CLOCK", "_TIMESTAMP"),  # through read_duration, read_timestamp
    *("_JVM_RUN_ERROR", "_SCRIPT"),  # through recipes
    *("_DECLARED", "_FAMILIES", "_ILLEGAL", "_REFERENCE", "_OPEN_REFERENCE"),  # a head or a chunk at a time
    *("_ODD_REFERENCE", "_BAZEL_SHARD", "_HINT", "_VOLATILE", "_STAMP"),  # above
}


def test_every_pattern_is_known_here() -> None:
    found = {name for module in MODULES for name, value in vars(module).items() if isinstance(value, re.Pattern)}
    assert found <= BOUNDED
