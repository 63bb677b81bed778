"""TAP, versions 12 to 14: lines of `ok` and `not ok`, plans, YAML blocks, and subtests by their indentation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from ingest.formats.cases import Case, Trouble, first_line
from ingest.formats.text import Damage, TextFormat, lines_of
from ingest.junit.dialects import Dialect
from ingest.junit.kept_text import ClippedText
from ingest.junit.problems import Refused, over_limit
from ingest.junit.suites import number
from ingest.verdict import Verdict

START = re.compile(rb"TAP version [0-9]|1\.\.[0-9]+\s|(?:not )?ok\b[ \t]{0,9}(?:[0-9#-]|\r?\n|\Z)|# Subtest")

_TEST = re.compile(r"(not )?ok\b(?: {1,9}([0-9]{1,9})\b)?(.*)\Z", re.IGNORECASE)
_PLAN = re.compile(r"1\.\.([0-9]{1,9})\s{0,99}(?:#\s{0,9}(.*))?\Z")
_DIRECTIVE = re.compile(r"(?<!\\)#\s{0,9}(skip\S{0,20}|todo)\b:?(.*)\Z", re.IGNORECASE)
_SUBTEST = re.compile(r"# Subtest(?::\s{0,9}(.*))?\Z")
_SUM = re.compile(r"#\s{1,4}(fail|cancelled)\s{1,9}([0-9]{1,9})\s{0,9}\Z")
_HIDDEN = re.compile(r"\bnot\s{1,9}ok\b|\bn\S{0,2}t ok\b|(?:^|\s)ok [0-9]|\bBail out!|^\s*not\s*\Z", re.IGNORECASE)
"""Text that looks like a result in a line that is not one."""
_YAML_FIELD = re.compile(r"\A([a-z_]{1,40}):\s{0,9}(.*)\Z", re.IGNORECASE)
_STEP = 4
# Printed by bats for a file's hooks, and by node:test and AVA for a file that could not be loaded.
_NO_TEST = re.compile(
    r"[^\t]*\t(?:(?:setup|teardown)_(?:file|suite) failed\t|[^\t\s]+[.-](?:test|spec|tests)\.[cm]?[jt]sx?\t"
    r"|[^\t\s]{1,1000} exited with a non-zero exit code|No tests found in )"
)


@dataclass(slots=True)
class _Level:
    """The tests at one level of indentation."""

    name: str = ""
    plan: int | None = None
    seen: int = 0
    last: int = 0
    failing: int = 0
    """Failed cases below."""
    pending: "_Test | None" = None
    inner: "_Level | None" = None
    """The subtest that just ended, until its summary line."""


@dataclass(slots=True)
class _Test:
    case: Case
    container: bool = False
    sink: ClippedText | None = None
    fields: dict[str, str] = field(default_factory=dict)


class Tap(TextFormat):
    dialect = Dialect("tap", lambda facts: False, run_error=_NO_TEST)

    def read(self, chunks: Iterator[bytes]) -> None:
        self._levels = [_Level()]
        self._yaml: str | None = None
        self._subtest = ""
        self._line = 0
        self._summed = 0
        self._excused = 0
        """TODO tests that are not ok: AVA counts them as failures."""
        self._bailed = self._skipped_all = False
        for line in chain.from_iterable(lines_of(chunks, self.report, self.limits.markup)):
            self._line += 1
            if self._bailed:
                self._stray(line)
            elif self._yaml is not None:
                self._read_yaml(line)
            else:
                self._read_line(line)
        self._end()

    # -- lines -------------------------------------------------------------------------------------------------

    def _read_line(self, line: str) -> None:
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        text = text.rstrip()
        level = self._levels[-1]
        if level.pending is not None and text == "---" and indent > self._indent():
            self._yaml = " " * indent
            level.pending.sink = self.share.sink(self.limits.text_kept)
            return
        if not text:
            return
        if text.startswith("#"):
            self._read_comment(text, indent)
        elif found := _TEST.match(text) or _PLAN.match(text):
            self._read_result(text, indent, found)
        elif text.startswith("Bail out!"):
            self._flush_all()
            self._bailed = True
            self.run_error("Bail out!", Trouble(text, type="bail out"))
        elif text.startswith("TAP version "):
            if self._line > 1 and not indent and (level.seen or level.plan is not None):
                self.tell("two_documents", "The file holds more than one TAP document: send each as a file of its own.")
        elif not text.startswith("pragma "):
            self._stray(line)

    def _indent(self) -> int:
        return _STEP * (len(self._levels) - 1)

    def _read_comment(self, text: str, indent: int) -> None:
        if found := _SUBTEST.match(text):
            self._name_subtest(found[1] or "", indent)
            return
        if not indent and (found := _SUM.match(text)):
            self._summed += int(found[2])
        test = self._levels[-1].pending
        if test is not None and test.case.verdict.failing:
            test.sink = test.sink or self.share.sink(self.limits.text_kept)
            test.sink.add(text.removeprefix("#").strip() + "\n")

    def _name_subtest(self, name: str, indent: int) -> None:
        """Take a subtest's name from a comment: before it, or inside it as in Perl."""
        if indent == self._indent() + _STEP:
            named_outside = bool(self._subtest)
            self._subtest = self._subtest or name
            self._open_level()
            self._subtest = name if named_outside else ""
        else:
            self._subtest = name

    def _read_result(self, text: str, indent: int, found: "re.Match[str]") -> None:
        depth, odd = divmod(indent, _STEP)
        if odd or depth > len(self._levels):
            self._stray(text)
            return
        if depth >= self.limits.depth:
            raise self._too_deep()
        if depth == len(self._levels):
            self._open_level()
        while depth < len(self._levels) - 1:
            self._close_level()
        if found.re is _PLAN:
            self._read_plan(found)
        else:
            self._read_test(text, found)

    def _too_deep(self) -> Exception:
        return Refused("too_deep", f"Subtests are nested too deep: the limit is {self.limits.depth} (LIMIT_DEPTH).")

    def _read_plan(self, plan: "re.Match[str]") -> None:
        level = self._levels[-1]
        self._flush(level)
        if level.plan is not None:
            self.tell("two_plans", f"A second plan stands in line {self._line:,}: two documents in one file?")
        level.plan = max(int(plan[1]), level.plan or 0)
        self._skipped_all |= not level.plan

    def _read_test(self, text: str, found: "re.Match[str]") -> None:
        level = self._levels[-1]
        self._flush(level)
        level.seen += 1
        if level.seen > self.limits.cases:
            raise over_limit("cases", self.limits.cases, "The file has too many test cases")
        given = int(found[2]) if found[2] else level.last + 1
        if given != level.last + 1:
            sentence = f"Test {given:,} in line {self._line:,} is out of sequence: {level.last + 1:,} was next."
            self.tell("out_of_sequence", sentence)
        level.last = given
        rest = found[3]
        directive = _DIRECTIVE.search(rest) if "#" in rest else None
        name = (rest[: directive.start()] if directive else rest).strip().removeprefix("- ").strip()
        if name.endswith("{"):
            self._stray(text)  # a subtest in braces, which is not read
        name = name.replace("\\#", "#") or f"test {given}"
        case = Case(name, self._classname())
        case.verdict = _verdict(failed=bool(found[1]), directive=directive[1].lower() if directive else "")
        self._excused += bool(found[1]) and not case.verdict.failing
        level.pending = _Test(case, container=level.inner is not None)
        self._subtest = ""

    def _classname(self) -> str:
        return " > ".join([level.name for level in self._levels[1:] if level.name])

    def _stray(self, line: str) -> None:
        """Read a line that is not TAP: allowed, unless it looks like a result."""
        if _HIDDEN.search(line[:10_000]) or _HIDDEN.search(line[-10_000:]):
            self.tell("stray_line", f"Line {self._line:,} looks like a result but is not one: {line.strip()[:80]!r}.")

    def _read_yaml(self, line: str) -> None:
        test = self._levels[-1].pending
        assert test is not None
        assert self._yaml is not None
        text = line.rstrip()
        if text.strip() == "..." and text.startswith(self._yaml):
            self._yaml = None
            return
        if text and not text.startswith(self._yaml):  # it did not end
            self.tell("open_block", f"The block before line {self._line:,} does not end.")
            self._yaml = None
            self._read_line(line)
            return
        text = text[len(self._yaml) :]
        if test.sink is not None:
            test.sink.add(text + "\n")
        if (found := _YAML_FIELD.match(text)) and len(test.fields) < 100:
            test.fields.setdefault(found[1].lower(), found[2].strip().strip("'\""))

    # -- levels ------------------------------------------------------------------------------------------------

    def _open_level(self) -> None:
        level = self._levels[-1]
        if level.pending is not None:
            self._flush(level)
        elif level.inner is not None:
            self.tell("subtest_unsummed", f"The subtest before line {self._line:,} is not summed up.")
        self._levels.append(_Level(self._subtest))
        self._subtest = ""

    def _close_level(self) -> None:
        level = self._levels.pop()
        self._flush(level)
        self._check_plan(level)
        outer = self._levels[-1]
        if outer.inner is not None:
            level.failing += outer.inner.failing
        outer.inner = level

    def _flush(self, level: _Level) -> None:
        """Hand over the previous test, which another line completes."""
        test, level.pending = level.pending, None
        if test is None:
            return
        case, inner = test.case, level.inner
        level.inner = None
        failing_inside = inner.failing if inner is not None else 0
        level.failing += failing_inside
        if test.container and (failing_inside or not case.verdict.failing):
            return  # its subtests report it
        if test.sink is not None:
            case.trouble.text = self.share.take(test.sink).strip()
        fields = test.fields
        if not fields and test.sink is None and case.verdict is Verdict.PASS:
            self.add(case)
            return
        if milliseconds := fields.get("duration_ms"):
            case.time = _seconds(milliseconds)
        case.trouble.message = fields.get("error") or fields.get("message") or first_line(case.trouble.text)
        if case.trouble.message in ("|-", "|", ">-", ">"):
            case.trouble.message = _block(case.trouble.text)
        case.trouble.type = fields.get("failuretype", "") or fields.get("name", "")
        level.failing += case.verdict.failing
        self.add(case)

    def _check_plan(self, level: _Level) -> None:
        if level.plan is not None and level.plan != level.seen:
            what = f" of {level.name!r}" if level.name else ""
            message = f"The plan{what} has {level.plan:,} tests; {level.seen:,} were run."
            self.run_error(f"plan{what}", Trouble(message, type="plan"))

    def _flush_all(self) -> None:
        while len(self._levels) > 1:
            self._close_level()
        self._flush(self._levels[0])

    def _end(self) -> None:
        if self._yaml is not None:
            self._yaml = None
            self._flush_all()
            raise Damage("It ends inside a block of YAML", self._line, 1)
        open_subtest = len(self._levels) > 1 or self._levels[0].inner is not None
        self._flush_all()
        top = self._levels[0]
        if self._bailed:
            return
        if open_subtest and top.inner is not None:
            self.tell("subtest_unsummed", "The last subtest is not summed up.")
        self._check_plan(top)
        tally = self.target.tally()
        read = tally.failing + self._excused
        if self._summed > read and not tally.run_errors:
            counted = f"failures: {self._summed:,} counted, {read:,} read"
            self.tell("header_surplus", f"The sums at the end count more than the lines hold: {counted}.")
        if top.plan is None:
            raise Damage("It has no plan, so that it may have been cut off", self._line, 1)


def _verdict(*, failed: bool, directive: str) -> Verdict:
    if directive == "todo" and failed:
        return Verdict.SKIP  # it was expected to fail
    if failed:
        return Verdict.FAIL
    return Verdict.SKIP if directive.startswith("skip") else Verdict.PASS


def _seconds(milliseconds: str) -> str:
    whole = milliseconds.partition(".")[0]
    if number(whole) is None:
        return milliseconds[:40]
    try:
        return repr(float(milliseconds) / 1_000)
    except ValueError:
        return milliseconds[:40]


def _block(text: str) -> str:
    """The first line of the YAML block after an `error:` or `message:`."""
    found = re.search(r"^(?:error|message):[ \t]*[|>][-+]?[ \t]*\n[ \t]*(.{1,4000})", text, re.MULTILINE)
    return found[1] if found else ""
