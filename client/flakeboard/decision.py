"""What the gate answered: may this red build pass, and what each failing test is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

RERUN_MAY_HELP = frozenset({"not_quarantined", "quarantine_expired"})
"""Reasons that are about single tests. Any other is about the run, and no rerun of a test answers it."""

_TOLD = 500
"""The gate names no more failing tests: past it, some that block may be missing from the list."""


@dataclass(frozen=True)
class Failing:
    suite: str
    classname: str
    name: str
    file: str
    kind: str
    """`class` in the API: new, flaky, broken, quarantined, incident."""
    blocks: bool
    sentence: str
    reruns: int | None

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
    """Code and sentence of each."""
    failing: list[Failing]

    @property
    def blocking(self) -> list[Failing]:
        return [one for one in self.failing if one.blocks]

    @property
    def may_be_rerun(self) -> bool:
        """Whether nothing but single failing tests stands in the way."""
        codes = {code for code, _ in self.reasons}
        about_tests = bool(codes) and codes <= RERUN_MAY_HELP
        return self.decided and not self.passed and about_tests and len(self.blocking) > 0 and len(self.failing) < _TOLD

    def but(self, **changes: Any) -> Decision:
        return replace(self, **changes)


def decision_from(answer: dict[str, Any]) -> Decision:
    """Read strictly: only a decided `true` is a pass, and a failing test blocks unless it is said not to."""
    return Decision(
        passed=answer.get("passed") is True and answer.get("decided") is True,
        decided=answer.get("decided") is True,
        sentence=_text(answer.get("sentence")),
        page=_text(answer.get("page")),
        reasons=[(_text(one.get("code")), _text(one.get("sentence"))) for one in _objects(answer.get("reasons"))],
        failing=[_failing(one) for one in _objects(answer.get("failing"))],
    )


def _failing(one: dict[str, Any]) -> Failing:
    reruns = one.get("reruns")
    return Failing(
        suite=_text(one.get("suite")),
        classname=_text(one.get("classname")),
        name=_text(one.get("name")),
        file=_text(one.get("file")),
        kind=_text(one.get("class")),
        blocks=one.get("blocks") is not False,
        sentence=_text(one.get("sentence")),
        reruns=reruns if isinstance(reruns, int) and not isinstance(reruns, bool) and reruns >= 0 else None,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
