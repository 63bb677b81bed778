"""The outcome of an order: a verdict for each of its tests, as letters."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

PASS, FAIL, ERROR, SKIP, NOT_RUN = "P", "F", "E", "S", "-"
CRASHED, TIMEOUT = "crashed", "timeout"


class Outcome(NamedTuple):
    """What one execution of an order gave, by step."""

    verdicts: str
    """A letter a step; `-` is not run, which is no verdict."""
    seconds: tuple[float, ...]
    """By step."""
    total: float
    """With starting and ending, as the budget counts it."""
    ended: str = ""
    """`crashed` or `timeout` if the process did not come to its end."""
    failures: Mapping[int, Sequence[Sequence[str]]] = {}
    """By step: kind, type, message and text of each failure, where they were recorded."""
    state: Mapping[int, Sequence[Sequence[str]]] = {}
    """By step: what the test left behind, where that was watched."""
    void: bool = False
    """The environment could not be reset, so it means nothing."""

    @property
    def last(self) -> str:
        return self.verdicts[-1]

    @property
    def failed(self) -> list[int]:
        """The steps that failed."""
        return [step for step, verdict in enumerate(self.verdicts) if fails(verdict)]

    @property
    def broke_at(self) -> int | None:
        """The step that was running when the process crashed or was ended."""
        if not self.ended:
            return None
        return next((step for step in reversed(range(len(self.verdicts))) if self.verdicts[step] != NOT_RUN), None)

    @property
    def is_green(self) -> bool:
        return not self.ended and all(verdict in (PASS, SKIP) for verdict in self.verdicts)


def fails(verdict: str) -> bool:
    return verdict in (FAIL, ERROR)


def from_json(value: Mapping[str, Any]) -> Outcome:
    def by_step(name: str) -> dict[int, Any]:
        return {int(step): rows for step, rows in (value.get(name) or {}).items()}

    return Outcome(
        str(value["verdicts"]),
        tuple(value.get("seconds") or ()),
        float(value["total"]),
        str(value.get("ended") or ""),
        by_step("failures"),
        by_step("state"),
        bool(value.get("void")),
    )


def to_json(outcome: Outcome) -> dict[str, Any]:
    """Without what is empty: most probes have nothing to say but a letter or two."""
    value = outcome._asdict()
    value["seconds"] = [round(seconds, 4) for seconds in outcome.seconds]
    value["total"] = round(outcome.total, 4)
    return {name: inner for name, inner in value.items() if inner or name in ("verdicts", "total")}
