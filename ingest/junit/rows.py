"""From the attributes of cases to the rows of a report: identity, verdict, duration, attempts.

Most cases are plain: a class, a name, a time and no children. Whole runs of those become rows without a Python
loop over them; everything else takes the careful way, one case at a time."""

from collections.abc import Mapping, Sequence
from math import nan
from operator import itemgetter

from ingest.junit.attempts import Details, Occurrence, attempts_of, join, repeated_on_purpose, status_verdict
from ingest.junit.keys import Place, Walk, key_of
from ingest.junit.limits import Limits
from ingest.junit.naming import stable_file
from ingest.junit.problems import over_limit
from ingest.junit.recipes import Again, Recipe
from ingest.junit.report import Attempt, Failure, ParsedReport, RunError, TestKey
from ingest.junit.times import LONGEST, read_duration
from ingest.verdict import Verdict

Attributes = Mapping[str, str]

_class = itemgetter("classname")
_name = itemgetter("name")
_time = itemgetter("time")


class NamedTwice(Exception):
    """A test turned up twice where that was thought impossible: the file must be read again, carefully."""


def _unknown(seconds: float) -> float | None:
    return None if seconds != seconds else seconds


class Rows:
    """Fills a report's columns, and knows which tests it has seen.

    Rows whose keys come from a walk through remembered ones are distinct by themselves and are not indexed until
    something else needs to be looked up. With `careful`, every key is."""

    def __init__(self, report: ParsedReport, limits: Limits, *, careful: bool = False) -> None:
        self._report = report
        self._limits = limits
        self._careful = careful
        self._row_of: dict[TestKey, int] = {}
        self._indexed = 0
        """Rows before this one are in `_row_of`."""
        self._walks: dict[tuple[str, str, str], Walk] = {}
        self._again: dict[int, list[Occurrence]] = {}
        self._raw_of: dict[TestKey, tuple[str, str]] = {}
        """How a test whose key is not what its case says was written first."""
        self._suite_start = 0
        self._across_suites: set[int] = set()
        self._unnamed = 0
        self.scattered = False
        """Whether a test was named again after others were: no serial runner retries like that."""

    def start_suite(self) -> None:
        """The same test in another suite of the file is no retry: nobody knows what it is."""
        self._suite_start = len(self._report.keys)

    # -- many at once ------------------------------------------------------------------------------------------

    def add(self, cases: list[Attributes], details: dict[int, Details], place: Place) -> None:
        """Make rows of cases that stand in one place; `details` by index for those with children."""
        self._check_count(len(cases))
        start = 0
        for index in (*details, len(cases)):
            if start < index and not self._add_alike(cases[start:index], place):
                for case in cases[start:index]:
                    self._add_one(case, None, place)
            if index < len(cases):
                self._add_one(cases[index], details[index], place)
            start = index + 1

    def add_plain(self, classes: list[str], names: list[str], times: list[str], place: Place) -> None:
        """Make rows of cases that have a class and a name, perhaps a time, and nothing else."""
        self._check_count(len(names))
        if self._add_columns(classes, names, times, place):
            return
        for index, name in enumerate(names):
            time = {"time": times[index]} if times else {}
            self._add_one({"classname": classes[index], "name": name, **time}, None, place)

    def _check_count(self, count: int) -> None:
        if len(self._report.keys) + count > self._limits.cases:
            raise over_limit("cases", self._limits.cases, "The file has too many test cases")

    def _add_alike(self, cases: list[Attributes], place: Place) -> bool:
        """Rows of cases that are all plain. False: take the other way."""
        sizes = set(map(len, cases))
        if sizes not in ({2}, {3}):
            return False
        try:
            classes, names = list(map(_class, cases)), list(map(_name, cases))
            times = list(map(_time, cases)) if sizes == {3} else []
        except KeyError:
            return False
        return self._add_columns(classes, names, times, place)

    def _add_columns(self, classes: list[str], names: list[str], times: list[str], place: Place) -> bool:
        """Rows without a loop. False where a test was named before, or a time or a name needs a closer look."""
        durations = _plain_durations(times) if times else [nan] * len(names)
        if durations is None or "" in names:
            return False
        walk = self._walk(place)
        keys = walk.step(classes, names) if not self._careful else None
        if keys is None:
            keys = walk.make(classes, names)
            if not self._index_new(keys):
                return False
            if not walk.as_written:
                self._note_raw(keys, classes, names)
        report, first = self._report, len(self._report.keys)
        report.keys += keys
        report.verdicts += bytes(len(keys))
        report.durations.extend(durations)
        report.files += [""] * len(keys)
        report.lines.extend([-1] * len(keys))
        walk.ranges.append((first, first + len(keys)))
        return True

    def _walk(self, place: Place) -> Walk:
        walk = self._walks.get(place.id)
        if walk is None:
            walk = self._walks[place.id] = Walk(place)
        return walk

    # -- which tests were seen -----------------------------------------------------------------------------------

    def _index(self) -> None:
        """Bring the index up to the last row."""
        keys = self._report.keys
        for row in range(self._indexed, len(keys)):
            self._row_of[_identity(keys[row])] = row
        self._indexed = len(keys)
        if len(self._row_of) != self._indexed:
            raise NamedTwice

    def _note_raw(self, keys: list[TestKey], classes: list[str], names: list[str]) -> None:
        for key, classname, name in zip(keys, classes, names, strict=True):
            if key[2] != name or key[1] != classname:
                self._raw_of[key] = (classname, name)

    def _told_apart(self, key: TestKey, classname: str, name: str) -> TestKey:
        """The key, or one of its own where it was made of another name: constant parameters may look volatile.

        Numbered in order of appearance, so that they are the same tests in the next run."""
        raw = (classname, name)
        variant, number = key, 1
        while self._raw_of.setdefault(variant, raw) != raw:
            number += 1
            variant = (key[0], key[1], f"{key[2]} #{number}", key[3], key[4])
        return variant

    def _index_new(self, keys: list[TestKey]) -> bool:
        """Index keys that are about to become the next rows. False where one of them was seen before."""
        self._index()
        first = self._indexed
        if not self._row_of.keys().isdisjoint(keys) or len(set(keys)) < len(keys):
            return False
        self._row_of.update(zip(keys, range(first, first + len(keys)), strict=True))
        self._indexed += len(keys)
        return True

    # -- one at a time -------------------------------------------------------------------------------------------

    def _add_one(self, case: Attributes, details: Details | None, place: Place) -> None:
        get = case.get
        name = get("name") or get("testname", "")
        classname = get("classname") or get("class", "")
        duration = self._duration(get("time", ""))
        status = status_verdict(get("result"), get("status"))
        verdict: Verdict = Verdict.PASS
        attempts: tuple[Attempt, ...] = ()
        if details is not None or status is not None:
            details = details or Details()
            verdict, attempts = attempts_of(
                details, status, _unknown(duration), flaky=get("flaky") == "true", skip_wins=place.recipe.skip_wins
            )
            if attempts and _is_run_error(place.recipe, classname, name, attempts[-1].failures):
                self._add_run_error(classname or place.suite_alone, name, attempts[-1].failures)
                return
        name = name or self._unnamed_case()
        file = stable_file(get("file", ""))
        row = self._row_for(classname, name, file, details.explicit_id if details else "", place)
        if row is not None:
            self._named_again(row, Occurrence(verdict, _unknown(duration), attempts))
            return
        report, line = self._report, get("line", "")
        if attempts:
            report.attempts[len(report.keys) - 1] = attempts
        report.verdicts.append(verdict)
        report.durations.append(duration)
        report.files.append(file)
        report.lines.append(int(line) if line.isdecimal() and line.isascii() and len(line) < 9 else -1)

    def _row_for(self, classname: str, name: str, file: str, explicit_id: str, place: Place) -> int | None:
        """The row that has this test already. None: its key has been appended, and a new row begins."""
        keys = self._report.keys
        walk = self._walk(place)
        by_file = bool(file) and not classname and not place.suite_alone
        expected = walk.step([classname], [name]) if not (explicit_id or by_file or self._careful) else None
        if expected is not None:
            keys += expected
            walk.ranges.append((len(keys) - 1, len(keys)))
            return None
        self._index()
        key = walk.make([classname], [name])[0]
        if by_file:
            key = key_of(place, classname, name, file)
            walk.as_written = False
        if explicit_id:
            key = ("", key[1], key[2], "", explicit_id)
            walk.as_written = False
        elif key[2] != name or key[1] != classname:
            key = self._told_apart(key, classname, name)
        row = self._row_of.setdefault(_identity(key), len(keys))
        if row < len(keys):
            return row
        keys.append(key)
        self._indexed = len(keys)
        if not explicit_id:
            walk.ranges.append((len(keys) - 1, len(keys)))
        return None

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
        known = any(error.where == where[:1_000] for error in self._report.run_errors)
        if not known and len(self._report.run_errors) < self._limits.attempts:
            self._report.run_errors.append(RunError(where[:1_000], failures[0] if failures else Failure(Verdict.ERROR)))

    # -- the same test again -------------------------------------------------------------------------------------

    def _named_again(self, row: int, occurrence: Occurrence) -> None:
        report = self._report
        self.scattered |= row != len(report.keys) - 1
        if row < self._suite_start:
            self._across_suites.add(row)
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

    def finish(self, again: Again) -> None:
        """Make one row's attempts of all that was said of one test, and remember the names for the next report."""
        if self._row_of or len(self._walks) > 1:
            self._index()
        if again in (Again.RETRIED, Again.SORTED) and repeated_on_purpose(self._again.values()):
            again = Again.UNKNOWN
        for row, occurrences in self._again.items():
            counted = len(occurrences) < self._limits.attempts and row not in self._across_suites
            set_attempts(self._report, row, *join(occurrences, again if counted else Again.UNKNOWN))
        self._again = {}
        for walk in self._walks.values():
            walk.remember(self._report.keys)


def _identity(key: TestKey) -> TestKey:
    return ("", "", "", "", key[4]) if key[4] else key


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
