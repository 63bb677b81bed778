"""The parser's target: lxml calls it for each tag and text. One per document.

`start` and `end` are the hot loop of the whole product: a plain passing case costs one append."""

from collections.abc import Callable
from hashlib import blake2b

from ingest.junit.attempts import Details, Element
from ingest.junit.formats import refuse_doctype, refuse_root
from ingest.junit.keeping import Kept, Share
from ingest.junit.keys import Place
from ingest.junit.limits import Limits
from ingest.junit.naming import stable_suite
from ingest.junit.problems import Refused, over_limit
from ingest.junit.recipes import UNKNOWN, Facts, Recipe, recognise
from ingest.junit.report import ParsedReport, Suite
from ingest.junit.rows import Attributes, Rows
from ingest.junit.times import read_duration, read_timestamp

ROOTS = ("testsuites", "testsuite", "testcase")
ENDINGS = ("failure", "error", "rerunFailure", "rerunError", "flakyFailure", "flakyError")
EXPLICIT_ID = ("flakeboard_id", "test_id")
"""Case properties whose value is the test's identity, whatever its names are."""

_PROPERTIES_KEPT = 200
_LONGEST_PATH = 2_000


def _bounded(path: str) -> str:
    """A path of suites that is short however many and long its names are, and still its own."""
    if len(path) <= _LONGEST_PATH:
        return path
    return f"{path[:_LONGEST_PATH]}…{blake2b(path.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


class _Frame:
    """An open suite."""

    __slots__ = ("attributes", "cases_before", "direct", "name", "path")

    def __init__(self, attributes: Attributes, parent: "_Frame | None", cases_before: int) -> None:
        self.attributes = attributes
        self.name = stable_suite(attributes.get("name", ""))
        self.path: str = _bounded(f"{parent.path}/{self.name}" if parent and parent.path else self.name)
        self.cases_before = cases_before
        self.direct = 0

    def place(self, recipe: Recipe) -> Place:
        if not recipe.suite_in_key:
            return Place(recipe, "", "")
        host = self.attributes.get("hostname") if recipe.host_in_key else None
        prefix = f"{host}:" if host else ""
        return Place(recipe, prefix + self.name, prefix + self.path)

    def suite(self) -> Suite:
        get = self.attributes.get
        return Suite(self.name, self.direct, get("timestamp", "")[:64], get("hostname", "")[:255])


class Target:
    """Collects one document. `report` holds what was read, complete up to the last case that ended."""

    def __init__(self, limits: Limits, share: Share, *, careful: bool = False) -> None:
        self.report = ParsedReport()
        self.root_ended = False
        self.cases_ended = 0
        self._limits = limits
        self._share = share
        self._rows = Rows(self.report, limits, careful=careful)
        self._recipe: Recipe | None = None
        self._root = ""
        self._root_attributes: Attributes = {}
        self._first_suite: Attributes = {}
        self._frames: list[_Frame] = []
        self._events = 0
        self._depth = 0
        self._cases_seen = 0
        self._extras = 0
        """Suites and failures so far: bounded like cases."""
        self._in_case = False
        self._cases: list[Attributes] = []
        self._details: dict[int, Details] = {}
        self._current: Details | None = None
        self._element: Element | None = None
        self._sink: Kept | None = None
        self._outer: list[Kept | None] = []
        self._starts: dict[str, Callable[[Attributes], None]] = {
            "testcase": self._start_case,
            "testsuite": self._start_suite,
            "skipped": self._start_skipped,
            "property": self._start_property,
            **dict.fromkeys(("system-out", "system-err", "stackTrace"), self._start_text),
        }
        self._ends: dict[str, Callable[[], None]] = {
            "testsuite": self._end_suite,
            "system-out": self._end_system_out,
            "system-err": self._end_system_err,
            "stackTrace": self._end_stack_trace,
            **dict.fromkeys(ENDINGS, self._end_ending),
        }

    # -- what lxml calls ---------------------------------------------------------------------------------------

    def doctype(self, name: str, public_id: str | None, system_url: str | None) -> None:
        raise refuse_doctype(name or "")

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "testcase" and not self._in_case and len(attributes) < 9 and self._root:
            self._in_case = True
            self._current = None
            self._cases.append(attributes)
        else:
            self._start_other(tag, attributes)

    def end(self, tag: str) -> None:
        if tag == "testcase" and self._recipe is not None:
            self._in_case = False
            self.cases_ended += 1
        else:
            self._end_other(tag)

    def data(self, data: str) -> None:
        self._events += 1
        if self._sink is not None:
            self._sink.add(data)

    def close(self) -> None:
        """Called by lxml at the end, and after an error too: all that is complete becomes rows."""
        if self._in_case:
            self._cases.pop()
            self._details.pop(len(self._cases), None)
            self._in_case = False
        self._flush()
        while self._frames:
            self._close_suite()
        self._finish()

    # -- what the fast lane calls --------------------------------------------------------------------------------

    def last_case_attributes(self) -> tuple[str, ...]:
        return tuple(self._cases[-1]) if self._cases else ()

    def add_plain(self, classes: list[str], names: list[str], times: list[str]) -> None:
        """Rows of plain cases that follow the last one that the parser saw."""
        self._flush()
        self._rows.add_plain(classes, names, times, self._place(len(names)))

    # -- what the reader calls ---------------------------------------------------------------------------------

    def progress(self) -> int:
        """A number that changes with every tag and text: a tag that never ends leaves it as it is."""
        return self._events + self._cases_seen + len(self._cases)

    def flush_batch(self) -> None:
        """Make rows of the cases so far, but for one that is still open."""
        if not self._in_case:
            self._flush()

    def wall_time(self) -> float | None:
        """Seconds that the only suite, or the whole document, says that it took."""
        suite = self._first_suite.get("time") if len(self.report.suites) == 1 else None
        written = suite or self._root_attributes.get("time")
        return read_duration(written) if written else None

    # -- tags --------------------------------------------------------------------------------------------------

    def _start_other(self, tag: str, attributes: Attributes) -> None:
        self._events += 1
        self._depth += 1
        limits = self._limits
        if self._depth > limits.depth:
            raise Refused("too_deep", f"Elements are nested too deep: the limit is {limits.depth} (LIMIT_DEPTH).")
        if len(attributes) > limits.attributes:
            raise over_limit("attributes", limits.attributes, f"An element has {len(attributes):,} attributes")
        tag = tag.rpartition("}")[2]
        if not self._root:
            self._start_root(tag, attributes)
        if tag in ENDINGS:
            self._start_ending(tag, attributes)
        elif handler := self._starts.get(tag):
            handler(attributes)

    def _end_other(self, tag: str) -> None:
        self._events += 1
        local = tag.rpartition("}")[2]
        if local == "testcase":
            self._end_case()
            return
        self._depth -= 1
        self.root_ended = not self._depth
        if handler := self._ends.get(local):
            handler()

    def _start_root(self, tag: str, attributes: Attributes) -> None:
        if tag not in ROOTS:
            raise refuse_root(tag)
        self._root = tag
        self._root_attributes = attributes

    def _start_case(self, attributes: Attributes) -> None:
        """A case with a namespace or many attributes."""
        if self._in_case:
            raise Refused("too_deep", "A test case stands inside a test case: cases do not nest.")
        self._depth -= 1
        self._in_case = True
        self._current = None
        self._cases.append(attributes)

    def _end_case(self) -> None:
        self._in_case = False
        self.cases_ended += 1
        if self._recipe is None:  # after the first case and not later: what follows must not change what it is
            self._recognised()

    def _start_suite(self, attributes: Attributes) -> None:
        if self._in_case:
            raise Refused("malformed", "A test suite stands inside a test case.")
        self._count_extra("test suites")
        self._flush()
        self._rows.start_suite()
        self._first_suite = self._first_suite or attributes
        parent = self._frames[-1] if self._frames else None
        self._frames.append(_Frame(attributes, parent, self._cases_seen))
        report, timestamp = self.report, attributes.get("timestamp", "")[:64]
        if timestamp and (not report.timestamp or timestamp < report.timestamp):
            report.timestamp = timestamp
        report.hostname = report.hostname or attributes.get("hostname", "")[:255]

    def _end_suite(self) -> None:
        self._flush()
        if self._frames:
            self._check_counter(self._frames[-1])
            self._close_suite()

    def _close_suite(self) -> None:
        self.report.suites.append(self._frames.pop().suite())

    def _check_counter(self, frame: _Frame) -> None:
        declared, seen = frame.attributes.get("tests", ""), self._cases_seen - frame.cases_before
        if declared.isdecimal() and declared.isascii() and len(declared) < 12 and int(declared) != seen:
            sentence = f"Suite {frame.name[:80]!r} says that it has {int(declared):,} tests; it holds {seen:,} cases."
            self.report.warnings.add("counter_mismatch", sentence)

    def _start_property(self, attributes: Attributes) -> None:
        name, value = attributes.get("name", ""), attributes.get("value", "")
        if self._in_case:
            if name in EXPLICIT_ID and value:
                self._detail().explicit_id = value
        elif len(self.report.properties) < _PROPERTIES_KEPT:
            self.report.properties.setdefault(name[:200], value[:1_000])

    # -- what is inside a case ---------------------------------------------------------------------------------

    def _detail(self) -> Details:
        if self._current is None:
            self._current = self._details[len(self._cases) - 1] = Details()
        return self._current

    def _count_extra(self, what: str) -> None:
        self._extras += 1
        if self._extras > self._limits.cases:
            raise over_limit("cases", self._limits.cases, f"The file has too many {what}")

    def _start_skipped(self, attributes: Attributes) -> None:
        if self._in_case:
            self._detail().skipped = True

    def _start_ending(self, tag: str, attributes: Attributes) -> None:
        if not self._in_case:
            return
        self._count_extra("failures")
        kept = self._limits.text_kept
        element = Element(tag, attributes.get("type", "")[:1_000], attributes.get("message", "")[:kept])
        if written := attributes.get("time"):
            element.duration = read_duration(written)
        elements = self._detail().elements
        if len(elements) < self._limits.attempts:
            elements.append(element)
        self._element = element
        self._outer = []
        self._sink = self._share.sink(kept)

    def _end_ending(self) -> None:
        element, sink = self._element, self._sink
        if element is not None and sink is not None:
            text = self._share.take(sink)
            element.text = element.text or text
            element.cut = element.cut or sink.cut
        self._element = self._sink = None

    def _start_text(self, attributes: Attributes) -> None:
        if self._in_case:
            self._outer.append(self._sink)
            self._sink = self._share.sink(self._limits.text_kept)

    def _end_text(self) -> str:
        if self._sink is None or not self._outer:
            return ""
        text = self._share.take(self._sink)
        self._sink = self._outer.pop()
        return text

    def _end_system_out(self) -> None:
        if text := self._end_text():
            (self._element or self._detail()).system_out = text

    def _end_system_err(self) -> None:
        if text := self._end_text():
            (self._element or self._detail()).system_err = text

    def _end_stack_trace(self) -> None:
        text = self._end_text()
        if self._element is not None:
            self._element.text = text

    # -- from cases to rows ------------------------------------------------------------------------------------

    def _recognised(self) -> Recipe:
        if self._recipe is None:
            first_case = self._cases[0] if self._cases else {}
            facts = Facts(self._root, self._root_attributes, self._first_suite, first_case, self.report.properties)
            self._recipe = recognise(facts)
            self.report.producer = self._recipe.producer
        return self._recipe

    def _flush(self) -> None:
        """Make rows of the collected cases; all of them stand in the suite that is open now."""
        if not self._cases:
            return
        place = self._place(len(self._cases))
        self._rows.add(self._cases, self._details, place)
        self._cases, self._details = [], {}

    def _place(self, count: int) -> Place:
        """Where `count` more cases stand, counted."""
        recipe = self._recognised()
        frame = self._frames[-1] if self._frames else None
        self._cases_seen += count
        if frame is None:
            return Place(recipe, "", "")
        frame.direct += count
        return frame.place(recipe)

    def _finish(self) -> None:
        """Join what was named more than once, and say what is known of order and time."""
        report, recipe = self.report, self._recipe or UNKNOWN
        self._rows.finish(recipe.again)
        if self._share.spent:
            sentence = f"The texts of this upload pass {self._limits.text_total:,} characters (LIMIT_TEXT_TOTAL); "
            report.warnings.add("text_cut", sentence + "the rest is not kept.")
        report.order_reliable = recipe.order_reliable and not self._rows.scattered
        report.started_at = read_timestamp(report.timestamp, zoneless_is_utc=recipe.zoneless_is_utc)
