"""Turns the attributes of cases into rows of a report: identity, verdict, duration, attempts.

Most cases are plain: a class, a name, a time and no children. Whole runs of those become rows without a Python
loop over them; everything else takes the careful way, one case at a time."""

from array import array
from bisect import bisect_right
from math import nan
from operator import itemgetter

from ingest.junit.attempts import Details, Occurrence, join, repeated_on_purpose
from ingest.junit.dialects import Repetition
from ingest.junit.elements import Attributes
from ingest.junit.keys import Place, Walk, key_of
from ingest.junit.limits import Limits
from ingest.junit.outcomes import Outcomes
from ingest.junit.problems import over_limit
from ingest.junit.report import Attempt, ParsedReport, Provenance, TestKey, UnclearContent
from ingest.junit.stable_names import stable_file, without_browser
from ingest.junit.times import LONGEST, read_duration
from ingest.verdict import Verdict

_PLAIN = ("classname", "name", "time", "file", "line")
"""Attributes of plain cases; the first two are always there."""
_VALUE_OF = {name: itemgetter(name) for name in _PLAIN}
_NO_LINE = array("i", [-1])


class DuplicateName(Exception):
    """Raised when a test unexpectedly occurs twice: the file must be read again with `careful`."""


def _unknown(seconds: float) -> float | None:
    return None if seconds != seconds else seconds


class Rows:
    """Fills a report's columns and tracks the tests seen.

    Rows whose keys come from a walk through remembered ones are distinct by themselves and are not indexed until
    something else needs to be looked up. With `careful`, every key is."""

    def __init__(self, report: ParsedReport, limits: Limits, outcomes: Outcomes, *, careful: bool = False) -> None:
        self._report = report
        self._limits = limits
        self._outcomes = outcomes
        self._careful = careful
        self._seen: set[TestKey] = set()
        self._indexed = 0
        """The keys of rows before this one are in `_seen`."""
        self._rows: dict[TestKey, int] = {}
        """By key, as far as a row was asked for: few files name a test again."""
        self._repeats = False
        """Whether tests came again among cases that were new together."""
        self._walks: dict[tuple[str, str, str], Walk] = {}
        self._again: dict[int, list[Occurrence]] = {}
        self._raw_of: dict[TestKey, tuple[str, str]] = {}
        """How a test was first written, if its key differs from that."""
        self._alike: set[TestKey] = set()
        """Tests whose names differ only in volatile parts, so that only their order tells them apart."""
        self._suite_start = 0
        self._suite_starts: list[int] = []
        self._suite_ids: list[str] = []
        """Of each suite: its first row, and its id."""
        self._across_suites: set[int] = set()
        self._iterated: set[int] = set()
        """Rows repeated only because the suite with that id was repeated."""
        self._unnamed = 0
        self.scattered = False
        """Whether a test was repeated after other tests, which no serial runner does for a retry."""

    def start_suite(self, suite_id: str = "") -> None:
        """Begin a suite: the same test in another suite or source file is not a retry."""
        self._suite_start = len(self._report.keys)
        self._suite_ids.append(suite_id)
        self._suite_starts.append(self._suite_start)

    # -- many at once ------------------------------------------------------------------------------------------

    def add(self, cases: list[Attributes], details: dict[int, Details], place: Place) -> None:
        """Make rows of cases in one place; `details` by index for those with children."""
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
        """Make rows of cases that are all plain, with the same attributes. Returns False if they are not."""
        if len(set(map(len, cases))) > 1 or not _VALUE_OF.keys() >= cases[0].keys() >= {"classname", "name"}:
            return False
        try:
            column = {name: list(map(_VALUE_OF[name], cases)) for name in cases[0]}
        except KeyError:
            return False
        files, lines = column.get("file"), column.get("line")
        classes, names, times = column["classname"], column["name"], column.get("time", [])
        if files and "" in classes and not place.suite_alone:  # the file tells tests apart
            return False
        if not self._add_columns(classes, names, times, place):
            return False
        if files:
            self._report.files[-len(files) :] = map(stable_file, files)
        if lines:
            self._report.lines[-len(lines) :] = array("i", map(_line, lines))
        return True

    def _add_columns(self, classes: list[str], names: list[str], times: list[str], place: Place) -> bool:
        """Make rows without a loop. Returns False if a test is repeated, or a time or name needs a closer look."""
        durations = (plain_durations(times) or _odd_durations(times)) if times else [nan] * len(names)
        if durations is None or "" in names or place.dialect.browser_in_names:
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
        report.durations.extend(array("d", durations))
        report.files += [""] * len(keys)
        report.lines.extend(_NO_LINE * len(keys))
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
        if self._indexed < len(keys):
            self._seen.update(keys[self._indexed :])
            self._indexed = len(keys)
        if len(self._seen) != self._indexed:
            raise DuplicateName

    def _row_of(self, key: TestKey) -> int:
        """The row of a test that was seen."""
        keys, rows = self._report.keys, self._rows
        if len(rows) < len(keys):
            rows.update(zip(keys[len(rows) :], range(len(rows), len(keys)), strict=True))
        return rows[key]

    def _note_raw(self, keys: list[TestKey], classes: list[str], names: list[str]) -> None:
        for key, classname, name in zip(keys, classes, names, strict=True):
            if key[2] != name or key[1] != classname:
                self._raw_of[key] = (classname, name)

    def _told_apart(self, key: TestKey, classname: str, name: str) -> TestKey:
        """The key, or a numbered one if another name has the same key: constant parameters may look volatile.

        Numbers follow the order of appearance, so that they mean the same tests in the next run."""
        raw = (classname, name)
        variant, number = key, 1
        if key in self._seen:
            self._raw_of.setdefault(key, (key[1], key[2]))  # this one was written like its key
        while self._raw_of.setdefault(variant, raw) != raw:
            number += 1
            variant = (key[0], key[1], f"{key[2]} #{number}", key[3], key[4])
        if number > 1:
            self._alike |= {key, variant}
        return variant

    def _index_new(self, keys: list[TestKey]) -> bool:
        """Index the keys of the next rows. Returns False if one of them was seen before.

        Few files repeat a test, so the keys are put in at once and counted; a file that does is asked first, since
        making the index anew costs as much as all its rows."""
        self._index()
        if self._repeats and (not self._seen.isdisjoint(keys) or len(set(keys)) < len(keys)):
            return False
        self._seen.update(keys)
        if len(self._seen) < self._indexed + len(keys):
            self._seen = set(self._report.keys)
            self._repeats = True
            return False
        self._indexed += len(keys)
        return True

    # -- one at a time -------------------------------------------------------------------------------------------

    def _add_one(self, case: Attributes, details: Details | None, place: Place) -> None:
        get = case.get
        name = get("name") or get("testname", "")
        classname = get("classname") or get("class", "")
        duration = self._duration(get("time", ""))
        verdict, attempts = self._outcomes.of(case, details, _unknown(duration), place.dialect)
        where = _where(classname or place.suite_alone, name)
        if attempts and self._outcomes.is_no_test(where, classname, name, attempts, place.dialect):
            return
        name = name or self._unnamed_case()
        file = stable_file(get("file", ""))
        written = classname
        if place.dialect.browser_in_names:
            classname = without_browser(classname)
        row = self._row_for(classname, name, file, details.explicit_id if details else "", place)
        if place.former is not None:
            self._note_browser(len(self._report.keys) - 1 if row is None else row, key_of(place.former, written, name))
        if details is not None and details.former_id:
            self._note_former(len(self._report.keys) - 1 if row is None else row, details.former_id)
        if details is not None and details.values:
            self._report.values[len(self._report.keys) - 1 if row is None else row] = details.values
        if row is not None:
            self._named_again(row, Occurrence(verdict, _unknown(duration), attempts), file)
            return
        report = self._report
        if attempts:
            report.attempts[len(report.keys) - 1] = attempts
        report.verdicts.append(verdict)
        report.durations.append(duration)
        report.files.append(file)
        report.lines.append(_line(get("line", "")))

    def _row_for(self, classname: str, name: str, file: str, explicit_id: str, place: Place) -> int | None:
        """The row of this test; None for a new test, whose key is appended."""
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
            key = (*key[:4], explicit_id)
            walk.as_written = False
        elif key in self._raw_of or key[2] != name or key[1] != classname:
            key = self._told_apart(key, classname, name)
        if key in self._seen:
            return self._row_of(key)
        self._seen.add(key)
        keys.append(key)
        self._indexed = len(keys)
        if not explicit_id:
            walk.ranges.append((len(keys) - 1, len(keys)))
        return None

    def _note_browser(self, row: int, former: TestKey) -> None:
        """Note the test's former key, which included the browser."""
        key = self._report.keys[row]
        known = self._report.former.get(key, ())
        if key[4] or former == key or former in known:
            return
        self._report.former[key] = (*known, former)

    def _note_former(self, row: int, former_id: str) -> None:
        key = self._report.keys[row]
        if not key[4]:
            self._report.former.setdefault(key, (("", key[1], key[2], "", former_id),))

    def _duration(self, written: str) -> float:
        seconds = read_duration(written)
        if seconds is not None:
            return seconds
        if written.strip():
            sentence = f"The time {written[:40]!r} is not a duration in seconds; it is left out."
            self._report.warnings.add("bad_time", sentence)
        return nan

    def _unnamed_case(self) -> str:
        self._unnamed += 1
        self._report.warnings.add("no_name", "A case has no name; only its position identifies it.")
        return f"(unnamed {self._unnamed})"

    # -- the same test again -------------------------------------------------------------------------------------

    def _named_again(self, row: int, occurrence: Occurrence, file: str) -> None:
        report = self._report
        self.scattered |= row != len(report.keys) - 1
        if row < self._suite_start or file != report.files[row]:
            self._across_suites.add(row)
        seen = self._again.get(row)
        if self._runs_again(row) and (seen is None or row in self._iterated):
            self._iterated.add(row)
        else:
            self._iterated.discard(row)
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

    def _runs_again(self, row: int) -> bool:
        """Whether the suite of the row's test is repeated here: another suite with the same id."""
        if row >= self._suite_start or not self._suite_ids or not self._suite_ids[-1]:
            return False
        return self._suite_ids[bisect_right(self._suite_starts, row) - 1] == self._suite_ids[-1]

    def finish(self, again: Repetition) -> None:
        """Merge repeated cases into attempts, and remember the names for the next report."""
        if self._seen or len(self._walks) > 1:
            self._index()
        if again in (Repetition.RETRIED, Repetition.SORTED) and repeated_on_purpose(self._again.values()):
            again = Repetition.UNKNOWN
        for row, occurrences in self._again.items():
            apart = row not in self._iterated if again is Repetition.ITERATED else row in self._across_suites
            counted = len(occurrences) < self._limits.attempts and not apart
            set_attempts(self._report, row, *join(occurrences, again if counted else Repetition.UNKNOWN))
            _tell_merged(self._report, row, len(occurrences))
        self._again = {}
        self._tell_alike()
        for walk in self._walks.values():
            walk.remember(self._report.keys)
            for key, formers in walk.former(self._report.keys).items():
                self._report.former[key] = self._report.former.get(key, ()) + formers

    def _tell_alike(self) -> None:
        """Report failing tests with indistinguishable names, since a quarantine must not excuse the wrong one."""
        for key in sorted(self._alike & self._seen):
            if Verdict(self._report.verdicts[self._row_of(key)]).failing:
                sentence = f"{key[2][:200]!r} failed, and only what changes every run tells it apart from others."
                self._report.add_unclear(UnclearContent("alike_names", sentence))


def _line(written: str) -> int:
    return int(written) if written.isdecimal() and written.isascii() and len(written) < 9 else -1


def _where(classname: str, name: str) -> str:
    return f"{classname}: {name}" if classname and name else classname or name


def _tell_merged(report: ParsedReport, row: int, occurrences: int) -> None:
    """Warn that cases of one name were merged into one test, not as attempts of it."""
    if any(attempt.provenance is Provenance.AMBIGUOUS for attempt in report.attempts[row]):
        _, classname, name, _, _ = report.keys[row]
        sentence = (
            f"Cases of one name are one test, and the worst outcome counts, such as {_where(classname, name)[:200]!r}."
        )
        report.warnings.add("merged_names", sentence, count=occurrences - 1)


def set_attempts(report: ParsedReport, row: int, verdict: Verdict, attempts: tuple[Attempt, ...]) -> None:
    report.verdicts[row] = verdict
    report.attempts[row] = attempts
    last = attempts[-1].duration
    report.durations[row] = nan if last is None else last


def _odd_durations(times: list[str]) -> list[float] | None:
    """The same for times that are not all plain numbers: TRX writes hours, minutes and seconds."""
    seconds = [value for written in times if (value := read_duration(written)) is not None]
    return seconds if len(seconds) == len(times) else None


def plain_durations(times: list[str]) -> list[float] | None:
    """All times as seconds, or None if any needs a closer look."""
    together = "".join(times)
    if not together.isascii() or "_" in together or len(together) > 20 * len(times):
        return None
    try:
        seconds = list(map(float, times))
    except ValueError:
        return None
    total = sum(seconds)
    return seconds if total == total and min(seconds) >= 0.0 and max(seconds) < LONGEST else None
