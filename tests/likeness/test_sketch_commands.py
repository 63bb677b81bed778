"""`flakeboard sketch`, `flakeboard predict` and the plugin against the real API, and that no word of a source leaves."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flakeboard import cli
from flakeboard.commands import predict, sketch
from flakeboard.detection.changed.advice import runs_advised
from flakeboard.plugin import sketches as plugin_sketches
from flakeboard.problems import Problem
from flakeboard.sketches.blame import author_days

from analytics.likeness.models import PullRequestAnswer, TestSketch
from analytics.services import analysis_refresh
from ingest.models import Project
from tests.api_client import Program
from tests.client.conftest import CI_VARIABLES
from tests.database_text import whole_database
from tests.likeness.test_sketches_api import FLAKY_SOURCE, STABLE_SOURCE
from tests.likeness.worlds import earning, few_executions, grown, is_flaky_class, names, project

__all__ = ["earning", "few_executions", "grown", "project"]
CANARY = "zanzibar_canary"
SECRET = "a very secret sketch key"


class ProgramApi:
    """The client's API without a network."""

    program: Program
    bodies: list[str]

    def __init__(self, settings: Any) -> None:
        assert settings.project == "shop"

    def post(self, path: str, body: bytes, kind: str = "application/json") -> dict[str, Any]:
        self.bodies.append(body.decode())
        answer = self.program.post_raw(path, body.decode())
        if answer.status_code != 200:
            raise Problem(answer.json()["error"]["sentence"])
        return answer.json()

    def rows(self, path: str, query: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for page in self.program.pages(f"{path}?page_size=500"):
            yield from page["results"]


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def source_of(name: tuple[str, str]) -> str:
    return (FLAKY_SOURCE if is_flaky_class(name) else STABLE_SOURCE).format(name[1]) + f"\n    {CANARY}(1)\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upload_token: str) -> Path:
    """A repository with the sources of the world's tests, connected to the server."""
    folder = tmp_path / "checkout"
    (folder / "shop").mkdir(parents=True)
    for group in sorted({group for group, _ in names()}):
        tests = [name for name in names() if name[0] == group]
        (folder / f"{group.replace('.', '/')}.py").write_text("\n\n".join(map(source_of, tests)))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "tests", "--date", "2024-05-06T12:00:00Z")
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith((*CI_VARIABLES, "GITHUB_"))]:
        monkeypatch.delenv(name)
    for name, value in {"URL": "http://localhost", "PROJECT": "shop", "TOKEN": upload_token}.items():
        monkeypatch.setenv(f"FLAKEBOARD_{name}", value)
    monkeypatch.setattr(ProgramApi, "program", Program(upload_token), raising=False)
    monkeypatch.setattr(ProgramApi, "bodies", [], raising=False)
    for module in (sketch, predict, plugin_sketches):
        monkeypatch.setattr(module, "Api", ProgramApi)
    return folder


def add_new_tests(folder: Path) -> None:
    git(folder, "switch", "-qc", "feature")
    more = FLAKY_SOURCE.format("test_wait") + "\n\n\n" + STABLE_SOURCE.format("test_price") + "\n"
    (folder / "shop" / "test_new.py").write_text(more)
    with (folder / "shop" / "test_00.py").open("a") as file:
        file.write("\n\n" + FLAKY_SOURCE.format("test_added") + "\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "more")


@pytest.mark.usefixtures("earning")
def test_detect_runs_new_tests_as_often_as_the_server_advises(
    project: Project, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = analysis_refresh(project=project).summary["prediction"]
    assert cli.main(["sketch"]) == 0
    analysis_refresh(project=project)
    add_new_tests(checkout)
    settings = SimpleNamespace(project="shop")
    api = ProgramApi(settings)
    api.settings = settings  # type: ignore[attr-defined]
    new = ["shop/test_00.py::test_added", "shop/test_11.py::test_price", "shop/test_new.py::test_price[1]"]
    lines: list[str] = []
    assert runs_advised(api, str(checkout), new, lines.append) == {new[0]: kept["runs_advised"]}  # type: ignore[arg-type]
    assert runs_advised(api, str(checkout), [], lines.append) == {} and lines == []  # type: ignore[arg-type]
    monkeypatch.setattr(ProgramApi, "post", lambda *_: (_ for _ in ()).throw(Problem("away")))
    assert runs_advised(api, str(checkout), new, lines.append) == {}  # type: ignore[arg-type]
    assert lines == ["no prediction of new tests: away"]


@pytest.mark.usefixtures("earning")
def test_from_sources_to_a_prediction_in_a_pull_request(
    project: Project,
    checkout: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    analysis_refresh(project=project)
    monkeypatch.setenv("FLAKEBOARD_SKETCH_KEY", SECRET)
    assert cli.main(["sketch", "--history"]) == 0
    assert "120 sketches sent, 0 known already; 120 tests." in capsys.readouterr().out
    written = TestSketch.objects.exclude(written=None).values_list("written", flat=True)
    assert len(written) == 120 and {day.date().isoformat() for day in written} == {"2024-05-06"}
    assert cli.main(["sketch"]) == 0
    assert "0 sketches sent, 120 known already" in capsys.readouterr().out
    assert analysis_refresh(project=project).summary["prediction"]["sketches"] == 120

    add_new_tests(checkout)
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert cli.main(["predict", "--base", "main"]) == 0
    shown = capsys.readouterr().out
    assert "3 new or changed tests; " in shown and "likely flaky (of " in shown
    assert "shop/test_00.py::test_added   like test_" in shown and "10 of 10 tests of its class are flaky" in shown
    assert "in common: " in shown and "queue, sleep" in shown and "times before you merge." in shown
    assert "test_price" not in shown
    assert "likely flaky" in summary.read_text().replace("\\", "")
    assert cli.main(["predict", "--base", "main", "--strict"]) == 1
    capsys.readouterr()
    assert cli.main(["predict", "--base", "main", "--json"]) == 0
    assert {row["name"] for row in json.loads(capsys.readouterr().out)["results"]} == {
        "test_wait",
        "test_price",
        "test_added",
    }
    assert PullRequestAnswer.objects.count() == 1 and TestSketch.objects.count() == 120

    sent = "".join(ProgramApi.bodies)
    assert "test_added" in sent and '"sketch"' in sent
    for word in (CANARY, "sleep", SECRET):
        assert word not in sent and word not in caplog.text
    kept = whole_database()
    assert "shop.test_00" in kept
    for word in (CANARY, SECRET):
        assert word not in kept and word.encode().hex() not in kept


def test_another_branch_and_a_pull_request_send_nothing_that_is_kept(
    project: Project, checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = checkout / "report.xml"
    reports.write_text(
        '<testsuite><testcase classname="shop.test_00" name="test_0"/><testcase name="gone"/></testsuite>'
    )
    git(checkout, "switch", "-qc", "feature")
    assert cli.main(["sketch", "report.xml", "--verbose"]) == 0
    shown = capsys.readouterr().out
    assert "no sketch is kept: it is not the default branch; 2 tests (1 not found)." in shown
    assert "no sketch of ::gone: not found" in shown and not TestSketch.objects.exists()


def test_without_a_token_or_a_server_predict_warns_and_ends_well(
    project: Project, checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_new_tests(checkout)
    monkeypatch.setattr(ProgramApi, "post", lambda *_: (_ for _ in ()).throw(Problem("the server is away")))
    assert cli.main(["predict", "--base", "main", "--strict"]) == 0
    assert "nothing is predicted: the server is away" in capsys.readouterr().err
    monkeypatch.delenv("FLAKEBOARD_TOKEN")
    assert cli.main(["predict", "--base", "main"]) == 0
    assert "nothing is predicted: No token" in capsys.readouterr().err


def test_a_silent_server_is_told_with_its_reason(
    project: Project, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_new_tests(checkout)
    assert cli.main(["predict", "--base", "main", "--strict"]) == 0
    assert "3 new or changed tests; nothing is predicted: nothing is analysed yet." in capsys.readouterr().out


def test_a_short_secret_is_refused(
    project: Project, checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAKEBOARD_SKETCH_KEY", "too short")
    assert cli.main(["sketch"]) == 1
    shown = capsys.readouterr().err
    assert "FLAKEBOARD_SKETCH_KEY must have 16 characters or more." in shown and "too short" not in shown


def test_days_of_lines_are_those_of_git(checkout: Path) -> None:
    days = author_days(str(checkout), "shop/test_00.py")
    assert days[1] == "2024-05-06" and set(days.values()) == {"2024-05-06"}
    assert author_days(str(checkout), "shop/none.py") == {}


def test_the_plugin_sends_what_pytest_collected(
    project: Project, checkout: Path, pytester_free_session: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = pytester_free_session(checkout / "shop" / "test_00.py")
    assert lines == ["flakeboard: 10 sketches sent, 0 known already"]
    assert TestSketch.objects.count() == 10
    by_plugin = dict(TestSketch.objects.values_list("unit", "digest"))
    TestSketch.objects.all().delete()
    report = checkout / "report.xml"
    cases = "".join(f'<testcase classname="shop.test_00" name="test_{n}"/>' for n in range(10))
    report.write_text(f"<testsuite>{cases}</testsuite>")
    assert cli.main(["sketch", "report.xml"]) == 0
    assert {bytes(k): bytes(v) for k, v in dict(TestSketch.objects.values_list("unit", "digest")).items()} == {
        bytes(k): bytes(v) for k, v in by_plugin.items()
    }


@pytest.fixture
def pytester_free_session() -> Any:
    """The plugin's hooks, called as pytest calls them, with items of a real module."""
    import importlib.util

    def run(path: Path) -> list[str]:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        tests = [name for name in vars(module) if name.startswith("test_")]
        items = [SimpleNamespace(nodeid=f"shop/{path.name}::{name}", function=getattr(module, name)) for name in tests]
        plugin = plugin_sketches.SketchesOfItems(SimpleNamespace(option=SimpleNamespace()))
        plugin.pytest_collection_finish(SimpleNamespace(items=items))  # type: ignore[arg-type]
        plugin.pytest_sessionfinish(None)  # type: ignore[arg-type]
        shown: list[str] = []
        plugin.pytest_terminal_summary(SimpleNamespace(write_line=shown.append))
        return shown

    return run
