"""`flakeboard bounds` from its words to what it prints and sends; the runs are made up, the server is the real one."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flakeboard import cli
from flakeboard.bounds.series import Measurement
from flakeboard.commands import bounds
from flakeboard.values.sites import Site

from ingest.models import Project, ValueSeries
from tests.api_client import Program
from tests.conftest import Send
from tests.lab.values.test_values_api import report

SOURCE = "import numpy as np\n\ndef test_random():\n    x = np.random.normal()\n    assert x < 1.645\n"
NORMAL = np.random.default_rng(2).normal(size=1_000).tolist()


class FakeLaboratory:
    """Draws in place of runs of pytest."""

    left = 100.0
    ran: Counter[str] = Counter()

    def __init__(self, *given: Any) -> None:
        self.root = str(Path.cwd())
        self._drawn = 0

    def find(self, wanted: str) -> str:
        return wanted

    def collect(self, paths: list[str]) -> list[str]:
        return [f"tests/test_a.py::test_{name}" for name in ("random", "constant", "exact")]

    def run(self, test: str, count: int, per_process: int = 25) -> list[Measurement]:
        return self.run_all([test], count)

    def run_all(self, tests: list[str], count: int, per_process: int = 25) -> list[Measurement]:
        found = []
        for _ in range(count):
            value = NORMAL[self._drawn % len(NORMAL)]
            self._drawn += 1
            for test in tests:
                self.ran[test] += 1
                x = 0.5 if test.endswith("constant") else value
                site = {Site("tests/test_a.py", 5, 0): ("upper", "<", 1.645, x)} if "exact" not in test else {}
                outcome = "failed" if x >= 1.645 else "passed"
                found.append(Measurement(self._drawn, self._drawn // 25, test, outcome, site, ("tests/test_a.py:4",)))
        return found

    def close(self) -> None:
        return


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch, upload_token: str, tmp_path: Path) -> list[str]:
    """The command speaks to the API of this process; the addresses that it asked."""
    program, asked_for = Program(upload_token), []

    def post(self: Any, path: str, body: bytes, kind: str = "", query: Any = None) -> dict[str, Any]:
        asked_for.append(f"{path}?keep={query['keep']}")
        answer = program.post_raw(asked_for[-1], body.decode())
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    monkeypatch.setattr(bounds, "Laboratory", FakeLaboratory)
    monkeypatch.setattr("flakeboard.server.api.Api.post", post)
    for name, value in (("URL", "http://127.0.0.1:1"), ("PROJECT", "shop"), ("TOKEN", upload_token)):
        monkeypatch.setenv(f"FLAKEBOARD_{name}", value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(SOURCE)
    return asked_for


def test_bound_is_measured_told_kept_and_written_as_a_patch(
    board: list[str], send: Send, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    send(report(), build_id="1")
    assert cli.main(["bounds", "tests/test_a.py::test_random", "--runs", "1000", "--patch"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "seeds varied" in text and "It sets seeds itself at tests/test_a.py:4" in text
    assert "tests/test_a.py:5 value < 1.645" in text and "runs a day and with its seeds left free that is" in text
    assert "bounds: 1 in 10: " in text and "- assert x < 1.645 + assert x < " in text
    assert "/projects/shop/tests/0" in text
    diff = (tmp_path / "bounds-test_random.patch").read_text()
    assert "-    assert x < 1.645\n" in diff and (tmp_path / "tests" / "test_a.py").read_text() == SOURCE
    assert board[-1] == "values?keep=1" and set(board[:-1]) <= {"values?keep=0"}
    assert ValueSeries.objects.get().runs >= 100


def test_values_of_a_test_that_no_report_named_are_not_kept_and_that_is_said(
    board: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bounds", "tests/test_a.py::test_random"]) == 0
    text = capsys.readouterr().out
    assert "The values are not kept. No report has named this test yet: send one first." in text
    assert not ValueSeries.objects.exists()


def test_scan_takes_only_tests_whose_values_vary(
    board: list[str], send: Send, capsys: pytest.CaptureFixture[str]
) -> None:
    send(report(), build_id="1")
    FakeLaboratory.ran.clear()
    assert cli.main(["bounds", "--scan", "--json"]) == 0
    assert [FakeLaboratory.ran[f"tests/test_a.py::test_{name}"] for name in ("constant", "exact")] == [30, 5]
    bodies = json.loads(capsys.readouterr().out)
    assert [body["test"] for body in bodies] == ["tests/test_a.py::test_random"]
    assert bodies[0]["sites"][0]["conclusion"]["n"] >= 100 and bodies[0]["stored"] == 1


def test_nothing_is_sent_where_that_is_asked_for(board: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bounds", "tests/test_a.py::test_random", "--local"]) == 0
    assert board == [] and " of 200 failed (" in capsys.readouterr().out
