"""The gate's decision: whether this red build may pass, and what each failing test is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

RERUN_MAY_HELP = frozenset({"not_quarantined", "quarantine_expired"})
"""Reasons about single tests. Any other reason is about the whole run, and no rerun removes it."""

_MOST_LISTED = 500
"""The gate lists no more failing tests: beyond this, blocking ones may be missing from the list."""


@dataclass(frozen=True)
class FailingTest:
    suite: str
    classname: str
    name: str
    file: str
    kind: str
    """`class` in the API: new, flaky, broken, quarantined or incident."""
    blocks: bool
    sentence: str
    reruns: int | None
    touches: str = ""
    """Whether it touches the change, in words; empty where that is not known. Nothing is decided by it."""
    number: int | None = None
    """In the server's project."""
    remedy: str = ""
    """What helps against its cause; empty where none is known."""
    fixes: tuple[str, ...] = ()
    """Addresses of comparisons of commits that fixed tests like it."""

    @property
    def about(self) -> str:
        """What it is, and whether it touches the change."""
        return " ".join(part for part in (self.sentence, self.touches) if part)

    @property
    def label(self) -> str:
        return " :: ".join(part for part in (self.classname or self.suite, self.name) if part)


@dataclass(frozen=True)
class Decision:
    passed: bool
    decided: bool
    sentence: str
    page: str
    reasons: list[tuple[str, str]]
    """The code and sentence of each."""
    failing: list[FailingTest]
    notes: list[str] = field(default_factory=list)
    """Remarks that do not affect the decision."""
    run: int | None = None
    """The run's number on the server."""

    @property
    def blocking(self) -> list[FailingTest]:
        return [test for test in self.failing if test.blocks]

    @property
    def may_be_rerun(self) -> bool:
        """Whether only single failing tests block the build."""
        codes = {code for code, _ in self.reasons}
        about_tests = bool(codes) and codes <= RERUN_MAY_HELP
        is_complete = len(self.failing) < _MOST_LISTED
        return self.decided and not self.passed and about_tests and bool(self.blocking) and is_complete

    def but(self, **changes: Any) -> Decision:
        return replace(self, **changes)


def decision_from(answer: dict[str, Any]) -> Decision:
    """Read strictly: only a decided `true` passes, and a failing test blocks unless the gate says it does not."""
    return Decision(
        passed=answer.get("passed") is True and answer.get("decided") is True,
        decided=answer.get("decided") is True,
        sentence=_text(answer.get("sentence")),
        page=_text(answer.get("page")),
        reasons=[(_text(row.get("code")), _text(row.get("sentence"))) for row in _objects(answer.get("reasons"))],
        failing=[_failing_test(row) for row in _objects(answer.get("failing"))],
        notes=[_text(row.get("sentence")) for row in _objects(answer.get("notes"))],
        run=answer["run"] if type(answer.get("run")) is int else None,
    )


def _failing_test(row: dict[str, Any]) -> FailingTest:
    reruns, number = row.get("reruns"), row.get("number")
    return FailingTest(
        suite=_text(row.get("suite")),
        classname=_text(row.get("classname")),
        name=_text(row.get("name")),
        file=_text(row.get("file")),
        kind=_text(row.get("class")),
        blocks=row.get("blocks") is not False,
        sentence=_text(row.get("sentence")),
        reruns=reruns if isinstance(reruns, int) and not isinstance(reruns, bool) and reruns >= 0 else None,
        touches=_touches(row),
        number=number if isinstance(number, int) and not isinstance(number, bool) else None,
        remedy=_text(row.get("remedy")),
        fixes=_addresses(row.get("fixes")),
    )


_ADDRESS = re.compile(r"https?://[\w.:/%+~-]{1,500}\Z", re.ASCII)


def _addresses(value: Any) -> tuple[str, ...]:
    """At most three that cannot be anything else."""
    texts = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
    return tuple(text for text in texts if _ADDRESS.match(text))[:3]


_TOUCHES = {"no": "Does not touch this change: {}.", "yes": "Touches this change: {}."}


def _touches(row: dict[str, Any]) -> str:
    words, why = _TOUCHES.get(_text(row.get("touches_change"))), _text(row.get("touches_why"))
    return words.format(why) if words and why else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
