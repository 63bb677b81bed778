"""The time values of a test: what its source says and what its waits were given when it ran, put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Sequence

from flakeboard.differences.runs import Run
from flakeboard.traces.trace import Function, Site
from flakeboard.waits.search import SLEEP, TIMEOUT
from flakeboard.waits.source_values import SourceValue, source_values
from flakeboard.why.chances import quantile

Read = Callable[[str], str]
"""The text of a file below rootdir; empty if it cannot be read."""
_SLEEPS = ("time.sleep", "asyncio.sleep")


@dataclass(frozen=True)
class TimeValue:
    file: str
    line: int
    function: str
    callee: str
    kind: str
    value: float | None
    """Seconds; the middle one where it differs from call to call."""
    origin: str
    seconds: float | None
    """Waited in a run; None if no run came there."""
    site: tuple[str, str, str, int] | None
    """The site of its calls; None if no run came there, or its callee is not wrapped."""
    is_constant: bool = True
    longest_success: float = 0.0
    """Seconds of the longest wait of a passing run that did not give up."""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def can_vary(self) -> bool:
        return self.site is not None and bool(self.value)

    @property
    def reason(self) -> str:
        """Why it cannot be varied."""
        if self.can_vary:
            return ""
        if self.site is not None:
            return "it waits for no time"
        return "no run came there" if self.seconds is None else "its callee is not wrapped"


def values_of(
    test: str, runs: Sequence[Run], functions: Iterable[Function], read: Read, code: bool = False
) -> list[TimeValue]:
    """Of the test's file, its trace, and with `code` the functions in its reach; those that wait longest first."""
    own = test.partition("::")[0]
    seen = _observed(runs)
    files = {own, *(site.file for site in seen)}
    reached = {(function.file, function.name) for function in functions} if code else set()
    files |= {file for file, _ in reached}
    written = {file: source_values(read(file)) for file in sorted(files)}
    found = [_value(site, given, written.get(site.file, ()), runs) for site, given in seen.items()]
    matched = {(value.file, value.line) for value in found}
    for file, values in written.items():
        for value in values:
            is_listed = (file == own and not _is_of_another_test(value.function, test)) or (
                file,
                value.function,
            ) in reached
            if is_listed and not any((file, line) in matched for line in range(value.line, value.end + 1)):
                found.append(
                    TimeValue(
                        file,
                        value.line,
                        value.function,
                        value.callee,
                        value.kind,
                        value.value,
                        value.origin,
                        None,
                        None,
                    )
                )
    return sorted(found, key=lambda value: (value.seconds is None, -(value.seconds or 0.0), value.place))


def _observed(runs: Iterable[Run]) -> dict[Site, list[float]]:
    """Site -> the values that its calls were given, in all runs."""
    seen: dict[Site, list[float]] = {}
    lines: dict[tuple[str, str, str, int], Site] = {}
    for run in runs:
        waits: Any = run.recipe.get("waits")
        for row in waits.get("values", ()) if isinstance(waits, Mapping) else ():
            site = Site(*row["site"])
            seen.setdefault(lines.setdefault(site.key, site), []).extend(row["values"])
    return seen


def _value(site: Site, given: Sequence[float], written: Sequence[SourceValue], runs: Sequence[Run]) -> TimeValue:
    near = [value for value in written if value.line <= site.line <= value.end]
    last = site.callee.rpartition(".")[2]
    same = [value for value in near if value.callee.rpartition(".")[2] == last] or near
    kind = same[0].kind if same else SLEEP if site.callee in _SLEEPS else TIMEOUT
    origin = same[0].origin if same else "worked out there"
    waited = [_waited(run, site) for run in runs]
    return TimeValue(
        site.file,
        site.line,
        site.function,
        site.callee,
        kind,
        quantile(given, 0.5) if given else None,
        origin,
        sum(waited) / len(waited) if waited else None,
        site.key,
        len(set(given)) == 1,
        longest_success(site.key, runs),
    )


def _waited(run: Run, site: Site) -> float:
    own = {id(each): each.took for (other, _, _), each in run.calls.items() if other.key == site.key}
    return sum(own.values()) / 1e6


def longest_success(site: tuple[str, str, str, int], runs: Iterable[Run]) -> float:
    """Seconds of the longest wait at a site that did not give up, in runs that passed."""
    took = [
        each.took
        for run in runs
        if not run.failed
        for (other, _, _), each in run.calls.items()
        if other.key == site and each.raised is None and each.value is not False
    ]
    return max(took, default=0) / 1e6


def _is_of_another_test(function: str, test: str) -> bool:
    """Whether it lies in another test function of the file."""
    parts = [part.partition("[")[0] for part in test.split("::")[1:]]
    names = [name for name in function.split(".") if name != "<locals>"]
    return any(name.startswith("test") for name in names) and names[: len(parts)] != parts


def chosen(
    values: Sequence[TimeValue], wanted: str, named: Sequence[tuple[str, str, str, int]], most: int
) -> list[TimeValue]:
    """Values to search: the one that is asked for, else those that `why` named, then those that wait longest."""
    if wanted:
        return [value for value in values if value.place == wanted or value.place.endswith("/" + wanted)][:1]
    candidates = [value for value in values if value.can_vary and value.kind in (SLEEP, TIMEOUT)]
    candidates.sort(key=lambda value: value.site not in named)
    return candidates[:most]
