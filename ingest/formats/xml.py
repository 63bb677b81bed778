"""The common base of XML formats: a target for lxml that checks the structure and the limits."""

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from ingest.formats.cases import Case, Trouble, add_case, tell_unknown
from ingest.formats.templates import Run, Template
from ingest.junit.dialects import Dialect
from ingest.junit.elements import Attributes
from ingest.junit.kept_text import ClippedText, Share
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused, over_limit
from ingest.junit.refusals import refuse_doctype
from ingest.junit.report import ParsedReport
from ingest.junit.target import Target
from ingest.verdict import Verdict

_COMMENTED = re.compile(r"<[\w:.-]{0,40}(?:test|suite|case|result|failure|error|status|exception)", re.IGNORECASE)
_BLANK = " \t\r\n\ufeff"
"""Allowed between elements; a byte order mark in the middle of a file comes from concatenation."""
_LONG, _MOST_TAGS = 200, 1_000
"""Characters of a tag that is remembered, and how many are: a hostile file may have a namespace for each element."""


class _Kind:
    """A kind of elements that are read, and what to do with them."""

    __slots__ = ("closer", "has_text", "inner", "name", "opener")

    def __init__(
        self,
        name: str,
        opener: Callable[[Attributes], None] | None = None,
        closer: Callable[[Attributes, str], None] | None = None,
        *,
        has_text: bool = False,
    ) -> None:
        self.name, self.opener, self.closer, self.has_text = name, opener, closer, has_text
        self.inner: dict[str, _Kind] = {}
        """By tag: the elements that were met in it."""


class XmlFormat:
    """Collects one document. A subclass declares the structure and reads elements as they open or close.

    `open_x(attributes)` and `close_x(attributes, text)` are called for an element `x` of `children`. The content of
    an element that is not a key of `children` is skipped; unknown elements are reported."""

    dialect: ClassVar[Dialect]
    children: ClassVar[Mapping[str, frozenset[str]]]
    """Element -> its known children; "" for the root."""
    texts: ClassVar[frozenset[str]] = frozenset()
    """Elements whose text is kept."""
    results: ClassVar[frozenset[str]]
    """Elements of results, which are reported if they occur in skipped content."""
    renamed: ClassVar[Mapping[tuple[str, str], str]] = {}
    """(parent, element) -> another name, for an element with two meanings."""
    runs: ClassVar[Mapping[str, frozenset[str]]] = {}
    """Elements that follow each other, written alike -> attributes that are the same in all of a run.

    `take_x(run)` takes a run of `x` at once; returns False if they must be looked at one by one, as they are if
    something in them is read that is not in `taken`."""
    taken: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, limits: Limits, share: Share) -> None:
        self.limits = limits
        self.target = Target(limits, share, careful=True, dialect=self.dialect)
        self.target.start("testsuites", {})
        self.root_ended = False
        self._share = share
        self._deepest, self._most_attributes = limits.depth, limits.attributes
        self._outside = _Kind("")
        self._kinds: dict[str, _Kind] = {}
        self._open: list[tuple[str, Attributes, _Kind]] = []
        self._sink: ClippedText | None = None
        """The text of the innermost element; those with a text hold no other elements."""
        self._passed_over = 0
        """Depth inside a skipped element."""
        self._events = 0
        self.cases_ended = 0
        """Elements of `runs` that ended; the name of the last one."""
        self.last_ended = ""
        names = [name for name in self.children if name]
        self._openers = self._hooks("open", names)
        self._closers = self._hooks("close", names)
        self._takers = self._hooks("take", [*self.runs])

    def _hooks(self, prefix: str, names: list[str]) -> dict[str, Callable[..., None]]:
        found = {name: getattr(self, f"{prefix}_{name.replace('-', '_').lower()}", None) for name in names}
        return {name: method for name, method in found.items() if method is not None}

    # -- what lxml calls ---------------------------------------------------------------------------------------

    def doctype(self, name: str, public_id: str | None, system_url: str | None) -> None:
        raise refuse_doctype("")

    def start(self, tag: str, attributes: Attributes) -> None:
        self._events += 1
        if len(self._open) + self._passed_over >= self._deepest:
            limit = self._deepest
            raise Refused("too_deep", f"Elements are nested too deep: the limit is {limit} (LIMIT_DEPTH).")
        if len(attributes) > self._most_attributes:
            limit = self._most_attributes
            raise over_limit("attributes", limit, f"An element has {len(attributes):,} attributes")
        if self._passed_over:
            self._pass_over(tag)
            return
        outer = self._open[-1][2] if self._open else self._outside
        kind = outer.inner.get(tag) or self._kind(outer, tag)
        if kind is None:
            self._passed_over = 1
            return
        self._open.append((kind.name, attributes, kind))
        if kind.opener is not None:
            kind.opener(attributes)

    def _pass_over(self, tag: str) -> None:
        self._passed_over += 1
        local = tag.rpartition("}")[2]
        if local in self.results:
            self.tell("misplaced", f"The element <{local[:60]}> stands where no results belong.")

    def _kind(self, outer: _Kind, tag: str) -> _Kind | None:
        """The kind of an element in another; None for one whose content is skipped."""
        local = tag.rpartition("}")[2]
        if local not in self.children[outer.name]:
            sentence = f"The element <{local[:60]}> in <{outer.name}> is not known: it may tell of a failure."
            self.tell("unknown_element", sentence)
            return None
        name = self.renamed.get((outer.name, local), local)
        if name not in self.children:
            return None
        kind = self._kinds.get(name)
        if kind is None:
            kind = _Kind(name, self._openers.get(name), self._closers.get(name), has_text=name in self.texts)
            self._kinds[name] = kind
        if len(tag) < _LONG and len(outer.inner) < _MOST_TAGS:
            outer.inner[tag] = kind
        return kind

    def end(self, tag: str) -> None:
        self._events += 1
        if self._passed_over:
            self._passed_over -= 1
            return
        _, attributes, kind = self._open.pop()
        if not self._open:
            self.root_ended = True
        sink, self._sink = self._sink, None
        if kind.closer is not None:
            kind.closer(attributes, self._share.take(sink) if sink is not None else "")
        if kind.name in self.runs:
            self.cases_ended += 1
            self.last_ended = kind.name

    def data(self, data: str) -> None:
        self._events += 1
        if self._passed_over or not self._open:
            return
        kind = self._open[-1][2]
        if kind.has_text:
            if self._sink is None:
                self._sink = self._share.sink(self.limits.text_kept)
            self._sink.add(data)
        elif data.strip(_BLANK) and self.children[kind.name]:
            self.tell("stray_text", "Text stands where elements belong: part of an element that was damaged?")

    def comment(self, text: str) -> None:
        if _COMMENTED.search(text):
            self.tell("commented_out", "Results stand inside a comment: whether they count is not known.")

    def pi(self, target: str, data: str | None = None) -> None:
        if _COMMENTED.search(f"<{target} {data or ''}"):
            sentence = "Results stand inside a processing instruction; whether they count is not known."
            self.tell("commented_out", sentence)

    def close(self) -> None:
        """Called by lxml at the end, even after an error."""
        self.finish()
        self.target.close()

    # -- what the fast lane calls --------------------------------------------------------------------------------

    def place(self) -> tuple[str, ...]:
        """The names of the open elements."""
        return tuple(name for name, _, _ in self._open)

    def reads_all_of(self, template: Template) -> bool:
        """Whether nothing is to be told of such an element here: its elements are known, and no limit is passed."""
        for outer, name in template.inside:
            if outer not in self.children or name not in self.children[outer] or (outer, name) in self.renamed:
                return False
        most = max(len(tag.attributes) + len(tag.same) for tag in template.tags)
        deepest = len(self._open) + template.depth
        return deepest <= self._deepest and most <= self._most_attributes and self.texts.isdisjoint(template.spaced)

    def take(self, run: Run) -> None:
        """Read elements that follow each other and are written alike."""
        self._events += run.count
        hook = self._takers[run.name]
        read = run.elements & (self._openers.keys() | self._closers.keys())
        if not read <= self.taken or not hook(run):
            for tag, attributes in run.tags():
                if attributes is None:
                    self.end(tag)
                else:
                    self.start(tag, attributes)

    # -- what the reader calls ---------------------------------------------------------------------------------

    @property
    def report(self) -> ParsedReport:
        return self.target.report

    def progress(self) -> int:
        return self._events

    def flush_batch(self) -> None:
        self.target.flush_batch()

    def wall_time(self) -> float | None:
        return None

    # -- what formats use --------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Hand over held-back cases when the document ends or breaks off."""

    def tell(self, code: str, sentence: str) -> None:
        self.target.tell(code, sentence)

    def add(self, case: Case) -> None:
        add_case(self.target, case, self.limits.attempts)

    def verdict_of(self, word: str, words: Mapping[str, Verdict], case: Case) -> None:
        """Set the verdict for a word; an unknown word is reported and counts as an error."""
        known = words.get(word.strip().lower())
        if known is None:
            case.trouble = tell_unknown(self.target, word, case.name)
        case.verdict = Verdict.ERROR if known is None else known

    def run_error(self, where: str, trouble: Trouble) -> None:
        self.target.add_run_error(where, trouble.failure())
