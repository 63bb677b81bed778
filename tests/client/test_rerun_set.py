"""`flakeboard run --retries auto --rerun-set`: what the server's choice does to reruns, and what no answer does."""

from __future__ import annotations

from typing import Any

import pytest
from flakeboard.gate.decision import Decision, FailingTest, decision_from
from flakeboard.gate.rerun_set import chosen
from flakeboard.problems import Unreachable


class _Settings:
    timeout = 5.0


def failing(number: int | None, reruns: int | None = 1) -> FailingTest:
    return FailingTest("", "tests.test_a", f"test_{number}", "", "new", True, "", reruns, number=number)


def decision(*tests: FailingTest, run: int | None = 3) -> Decision:
    return Decision(False, True, "", "", [("not_quarantined", "")], list(tests), run=run)


def answered(monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[Any]:
    asked: list[Any] = []

    class _Api:
        def __init__(self, settings: Any) -> None:
            self.settings = settings

        def post(self, path: str, body: bytes) -> Any:
            asked.append((path, body))
            if isinstance(answer, Exception):
                raise answer
            return answer

    monkeypatch.setattr("flakeboard.gate.rerun_set.Api", _Api)
    monkeypatch.setattr("flakeboard.gate.rerun_set.replace", _replaced)
    return asked


def _replaced(value: Any, **changes: Any) -> Any:
    import dataclasses

    return dataclasses.replace(value, **changes) if dataclasses.is_dataclass(value) else value


class _Asker:
    settings = _Settings()


def test_the_server_says_how_often(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answered(monkeypatch, {"tests": [{"number": 1, "times": 4}, {"number": 2, "times": 0}], "left_out": []})
    tests, why = chosen(_Asker(), decision(failing(1), failing(2)), 600.0)  # type: ignore[arg-type]
    assert ([test.reruns for test in tests], why) == ([4, 1], "")
    assert asked == [("rerun-set", b'{"run": 3, "tests": [1, 2], "budget_seconds": 600.0}')]


def test_one_that_is_not_worth_it_makes_all_reruns_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"number": 2, "name": "test_2", "why": "look at the change: it is hardly flaky"}
    answered(monkeypatch, {"tests": [{"number": 1, "times": 4}], "left_out": [left, {"number": 9}]})
    tests, why = chosen(_Asker(), decision(failing(1), failing(2)), 600.0)  # type: ignore[arg-type]
    assert list(tests) == [] and why == "no reruns: test_2 blocks, and look at the change: it is hardly flaky."


@pytest.mark.parametrize("answer", [Unreachable("away"), {}, {"tests": "x", "left_out": 7}, {"tests": [7, {}]}])
def test_without_an_answer_all_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    answered(monkeypatch, answer)
    both = decision(failing(1), failing(2))
    assert chosen(_Asker(), both, 600.0) == (both.blocking, "")  # type: ignore[arg-type]


def test_an_older_server_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answered(monkeypatch, {})
    for known in (decision(failing(None)), decision(failing(1), run=None)):
        assert chosen(_Asker(), known, 600.0) == (known.blocking, "")  # type: ignore[arg-type]
    assert not asked


def test_what_a_failure_touches_is_told_with_it() -> None:
    row = {"name": "t", "class": "new", "sentence": "New.", "number": 4, "touches_change": "no", "touches_why": "x"}
    (test,) = decision_from({"decided": True, "passed": False, "run": 3, "failing": [row]}).failing
    assert test.about == "New. Does not touch this change: x." and test.number == 4
    for more in ({"touches_change": "unknown"}, {"touches_change": 7}, {"touches_why": None}):
        (test,) = decision_from({"decided": True, "failing": [{**row, **more}]}).failing
        assert test.about == "New."
