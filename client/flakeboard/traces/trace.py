"""What one execution of one test did, as far as it was recorded."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, NamedTuple, Sequence, Union

from flakeboard.traces.levels import CALLS as CALLS
from flakeboard.traces.levels import FUNCTIONS as FUNCTIONS
from flakeboard.traces.levels import LEVELS as LEVELS
from flakeboard.traces.levels import SOURCES as SOURCES

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
OUTCOMES = (PASSED, FAILED, SKIPPED)
MAIN = "main"
CODE = "code:"
"""Begins the callee of a call to the project's own code; any other callee is a source."""


class Site(NamedTuple):
    """A place in the code that calls something. Its line is for display: a moved line keeps its site."""

    file: str
    """Relative to rootdir, with slashes."""
    function: str
    """Qualified name of the function that calls."""
    callee: str
    nth: int
    """Which call of that callee in the function, by bytecode offset."""
    line: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        return (self.file, self.function, self.callee, self.nth)

    @property
    def is_source(self) -> bool:
        return not self.callee.startswith(CODE)


class Function(NamedTuple):
    """A function of the project that a test ran."""

    file: str
    name: str
    first: int
    last: int


class Token(NamedTuple):
    """A value that is not told: its type, how long it is, and a keyed digest that tells equal from different."""

    type: str
    length: int | None = None
    digest: str = ""
    errno: str = ""
    plain: str = ""
    """Text from the list of what may be told: a path, a host and port, the name of a variable, a status."""


Value = Union[None, bool, int, float, Token]


class Event(NamedTuple):
    site: int
    """Index into the sites of the file."""
    role: int
    """Index into the roles of the trace."""
    value: Value
    start: int
    """Microseconds since the test began."""
    took: int
    raised: Token | None = None
    about: str = ""
    """What the call was about, as far as that may be told: a path, a host and port, the name of a variable."""


class Events(Sequence[Event]):
    """Events by columns, as files hold them: a tenth of the memory that as many objects take."""

    __slots__ = ("abouts", "raised", "role", "site", "start", "tokens", "took", "value")

    def __init__(
        self,
        site: Sequence[int],
        role: Sequence[int],
        value: Sequence[int],
        start: Sequence[int],
        took: Sequence[int],
        tokens: Sequence[Value],
        raised: Mapping[int, Token],
        abouts: Mapping[int, str],
    ) -> None:
        self.site, self.role, self.start, self.took = site, role, start, took
        self.value, self.tokens = value, tokens
        """Indices, and the table of values that they point into."""
        self.raised, self.abouts = raised, abouts

    def __len__(self) -> int:
        return len(self.site)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        place = range(len(self.site))[place]
        return Event(
            self.site[place], self.role[place], self.tokens[self.value[place]], self.start[place], self.took[place],
            self.raised.get(place), self.abouts.get(place, ""),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Event]:
        return map(self.__getitem__, range(len(self.site)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Events, tuple)) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class Trace(NamedTuple):
    test: str
    attempt: int
    outcome: str
    raised: str
    """Type of the exception that made it fail; empty if it passed."""
    failed_at: int | None
    """Microseconds since the test began."""
    roles: tuple[str, ...]
    events: Sequence[Event]
    """By start."""
    counts: Mapping[tuple[int, int], int] = {}
    """(site, role) -> how many calls there were, where more than the events show."""
    symptoms: tuple[int, ...] = ()
    """Events that raised the exception which made the test fail, or passed it on."""
    reach: tuple[int, ...] | None = None
    """Indices into the functions of the file; None if they were not watched."""
    files: tuple[str, ...] = ()
    """Files below rootdir that it opened."""
    facts: Mapping[str, Any] = {}
    recipe: Mapping[str, Any] = {}
    cut: int = 0
    """Events that were left out, from the middle."""


class TraceFile(NamedTuple):
    """The traces of one process, with the tables that their numbers refer to."""

    level: str
    python: str
    worker: str
    facts: dict[str, Any]
    sites: list[Site]
    functions: list[Function]
    traces: list[Trace]
    is_whole: bool = True
    """False if the last line is torn, as when the process was killed."""
    too_large: tuple[tuple[str, int], ...] = ()
    """Test and attempt of traces that are larger than an execution may be."""
    left_out: int = 0
    """Executions past as many as an upload may hold."""
