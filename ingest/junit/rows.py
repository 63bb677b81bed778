"""From the attributes of cases to the rows of a report: identity, verdict, duration, attempts.

Most cases are plain: a class, a name, a time and no children. Whole runs of those become rows without a Python
loop over them; everything else takes the careful way, one case at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from operator import itemgetter

from ingest.junit.attempts import Details, Occurrence, attempts_of, join, status_verdict
from ingest.junit.limits import Limits
from ingest.junit.naming import stable_file, stable_name
from ingest.junit.problems import over_limit
from ingest.junit.recipes import Again, Recipe
from ingest.junit.report import Attempt, Failure, ParsedReport, RunError, TestKey
from ingest.junit.times import LONGEST, read_duration
from ingest.verdict import Verdict

Attributes = Mapping[str, str]

_class_and_name = itemgetter("classname", "name")
_time = itemgetter("time")
_MEMO_LIMIT = 200_000
_PLACES_LIMIT = 2_000
_memo: dict[tuple[str, str, str], dict[tuple[str, str], TestKey]] = {}
"""Keys already made, by producer and suite, then by class and name as written: the same tests come every run."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the document cases stand, and so what the suite adds to their identity."""

    recipe: Recipe
    suite: str
    """The suite's part of the key of a case that names its class."""
    suite_alone: str
    """The same of a case that does not."""


def key_of(place: Place, classname: str, name: str, file: str) -> TestKey:
    """A test's identity. The file counts only where neither class nor suite says where the test is."""
    if place.recipe.names is not None:
        classname, name = place.recipe.names(classname, name)
    classname, name = stable_name(classname), stable_name(name)
    if classname and classname != name:
        return "" if place.suite == classname else place.suite, classname, name, "", ""
    return place.suite_alone, "", name, "" if place.suite_alone else file, ""


Memo = dict[tuple[str, str], TestKey]


def _memo_at(place: Place) -> Memo:
    if len(_memo) > _PLACES_LIMIT:
        _memo.clear()
    memo = _memo.setdefault((place.recipe.producer, place.suite, place.suite_alone), {})
    if len(memo) > _MEMO_LIMIT:
        memo.clear()
    return memo


def _keys_of(place: Place, written: list[tuple[str, str]]) -> list[TestKey]:
    """The keys of (class, name) pairs: looked up, and made on first sight."""
    memo = _memo_at(place)
    keys = list(map(memo.get, written))
    if None in keys:
        for index, key in enumerate(keys):
            if key is None:
                keys[index] = memo[written[index]] = key_of(place, *written[index], "")
    return keys  # type: ignore[return-value]


def _unknown(seconds: float) -> float | None:
    return None if seconds != seconds else seconds


class Rows:
    """Fills a report's columns, and remembers which tests it has seen."""

    def __init__(self, report: ParsedReport, limits: Limits) -> None:
        self._report = report
        self._limits = limits
        self._row_of: dict[TestKey, int] = {}
        self._again: dict[int, list[Occurrence]] = {}
        self._unnamed = 0

    def add(self, cases: list[Attributes], details: dict[int, Details], place: Place) -> None:
        """Make rows of cases that stand in one place; `details` by index for those with children."""
        if len(self._row_of) + len(cases) > self._limits.cases:
            raise over_limit("cases", self._limits.cases, "The file has too many test cases")
        start = 0
        for index in (*details, len(cases)):
            if start < index and not self._add_plain(cases[start:index], place):
                for case in cases[start:index]:
                    self._add_one(case, None, place)
            if index < len(cases):
                self._add_one(cases[index], details[index], place)
            start = index + 1

    def _add_plain(self, cases: list[Attributes], place: Place) -> bool:
        """Rows of cases that have a class, a name, perhaps a time, and nothing else. False: take the other way."""
        sizes = set(map(len, cases))
        try:
            written = list(map(_class_and_name, cases))
            times = list(map(_time, cases)) if sizes == {3} else []
        except KeyError:
            return False
        durations = _plain_durations(times) if times else [nan] * len(cases)
        if sizes not in ({2}, {3}) or durations is None:
            return False
        keys = _keys_of(place, written)
        report, first = self._report, len(self._row_of)
        self._row_of.update(zip(keys, range(first, first + len(keys)), strict=True))
        if len(self._row_of) != first + len(keys):
            self._row_of = {key: row for row, key in enumerate(report.keys)}
            return False
        report.keys += keys
        report.verdicts += bytes(len(keys))
        report.durations.extend(durations)
        report.files += [""] * len(keys)
        report.lines.extend([-1] * len(keys))
        return True

    def _add_one(self, case: Attributes, details: Details | None, place: Place) -> None:
        get = case.get
        name = get("name") or get("testname") or self._unnamed_case()
        classname = get("classname") or get("class", "")
        file = stable_file(get("file", ""))
        key = key_of(place, classname, name, file) if file else _keys_of(place, [(classname, name)])[0]
        duration = self._duration(get("time", ""))
        status = status_verdict(get("result"), get("status"))
        verdict: Verdict = Verdict.PASS
        attempts: tuple[Attempt, ...] = ()
        if details is not None or status is not None:
            details = details or Details()
            verdict, attempts = attempts_of(details, status, get("flaky") == "true", _unknown(duration))
            if attempts and _is_run_error(place.recipe, classname, name, attempts[-1].failures):
                self._add_run_error(classname, name, attempts[-1].failures)
                return
            if details.explicit_id:
                key = ("", key[1], key[2], "", details.explicit_id)
        self._add_row(key, verdict, duration, attempts, file, get("line", ""))

    def _add_row(
        self, key: TestKey, verdict: Verdict, duration: float, attempts: tuple[Attempt, ...], file: str, line: str
    ) -> None:
        report = self._report
        identity = ("", "", "", "", key[4]) if key[4] else key
        row = self._row_of.setdefault(identity, len(report.keys))
        if row < len(report.keys):
            self._named_again(row, Occurrence(verdict, _unknown(duration), attempts))
            return
        if attempts:
            report.attempts[row] = attempts
        report.keys.append(key)
        report.verdicts.append(verdict)
        report.durations.append(duration)
        report.files.append(file)
        report.lines.append(int(line) if line.isdecimal() and line.isascii() and len(line) < 9 else -1)

    def _duration(self, written: str) -> float:
        seconds = read_duration(written)
        if seconds is not None:
            return seconds
        if written.strip():
            sentence = f"The time {written[:40]!r} is no duration in seconds; it is left out."
            self._report.warnings.add("bad_time", sentence)
        return nan

    def _unnamed_case(self) -> str:
        self._unnamed += 1
        self._report.warnings.add("no_name", "A case has no name; it is told apart by its position only.")
        return f"(unnamed {self._unnamed})"

    def _add_run_error(self, classname: str, name: str, failures: Sequence[Failure]) -> None:
        where = f"{classname}: {name}" if classname and name else classname or name
        if len(self._report.run_errors) < self._limits.attempts:
            self._report.run_errors.append(RunError(where[:1_000], failures[0] if failures else Failure(Verdict.ERROR)))

    def _named_again(self, row: int, occurrence: Occurrence) -> None:
        report = self._report
        seen = self._again.get(row)
        if seen is None:
            first = Occurrence(
                Verdict(report.verdicts[row]), _unknown(report.durations[row]), report.attempts.get(row, ())
            )
            seen = self._again[row] = [first]
        if len(seen) < self._limits.attempts:
            seen.append(occurrence)
            return
        report.warnings.add("too_many_attempts", "A test is named more often than is kept; the worst outcome counts.")
        if occurrence.verdict.failing and not seen[-1].verdict.failing:
            seen[-1] = occurrence

    def join(self, again: Again) -> None:
        """Make one row's attempts of all that was said of one test."""
        for row, occurrences in self._again.items():
            counted = len(occurrences) < self._limits.attempts
            set_attempts(self._report, row, *join(occurrences, again if counted else Again.UNKNOWN))
        self._again = {}


def _is_run_error(recipe: Recipe, classname: str, name: str, failures: Sequence[Failure]) -> bool:
    message = failures[0].message if failures else ""
    return bool(recipe.run_error.match(f"{classname[:1_000]}\t{name[:1_000]}\t{message[:1_000]}"))


def set_attempts(report: ParsedReport, row: int, verdict: Verdict, attempts: tuple[Attempt, ...]) -> None:
    report.verdicts[row] = verdict
    report.attempts[row] = attempts
    last = attempts[-1].duration
    report.durations[row] = nan if last is None else last


def _plain_durations(times: list[str]) -> list[float] | None:
    """All of them as seconds, or None where any needs a closer look."""
    together = "".join(times)
    if not together.isascii() or "_" in together or len(together) > 20 * len(times):
        return None
    try:
        seconds = list(map(float, times))
    except ValueError:
        return None
    total = sum(seconds)
    return seconds if total == total and min(seconds) >= 0.0 and max(seconds) < LONGEST else None


