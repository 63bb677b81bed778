"""The integrations: their descriptions keep the rules of each CI, and their shell runs against a server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.client.commands import FAILED, environ_with
from tests.client.conftest import ROOT
from tests.client.misbehaving import ACCEPTED, PASSED, Misbehaving, error, failing, refused
from tests.client.test_single_file import zipped

yaml = pytest.importorskip("yaml")

FOLDER = ROOT / "integrations"
SCRIPT = FOLDER / "github" / "flakeboard.sh"
EXCUSED = {**PASSED, "failing": [failing("test_bad", blocks=False, kind="quarantined")]}
WRITES = f"{sys.executable} tests.py"
PROGRAM = f"import sys; open('report.xml', 'w').write({FAILED!r}); sys.exit(3)"


def text(*steps: str) -> str:
    return FOLDER.joinpath(*steps).read_text(encoding="utf-8")


def script(folder: Path, server: Misbehaving, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run it in a folder with tests that write a report and exit with 3, on a machine with this Python as python3."""
    (folder / "tests.py").write_text(PROGRAM)
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(sys.executable)
    path = "{}:/usr/bin:/bin".format(folder / "bin")
    return subprocess.run(
        list(words) or ["sh", str(SCRIPT)],
        cwd=str(folder),
        env={**environ_with(), **server.environ(), "PATH": path, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_there_is_one_script() -> None:
    copies = {path.read_text() for path in FOLDER.rglob("flakeboard.sh")}
    assert len(copies) == 1
    job = list(yaml.safe_load_all(text("gitlab", "templates", "test.yml")))[1]
    inline = job["$[[ inputs.job ]]"]["script"][0]
    assert inline.partition("\n")[2].rpartition("END_OF_FLAKEBOARD")[0] == copies.pop()


def test_the_action_keeps_githubs_rules() -> None:
    action = yaml.safe_load(text("github", "action.yml"))
    assert set(action) <= {"name", "author", "description", "inputs", "outputs", "runs", "branding"}
    assert action["runs"]["using"] == "composite" and len(action["description"]) <= 125
    inputs = action["inputs"]
    assert all(set(given) <= {"description", "required", "default"} for given in inputs.values())
    assert all(given.get("required") or "default" in given for given in inputs.values())
    (step,) = action["runs"]["steps"]
    assert step["shell"] == "bash" and "${{" not in step["run"]
    used = {re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1] for value in step["env"].values()}
    assert used == set(inputs)


def test_the_component_keeps_gitlabs_rules() -> None:
    source = text("gitlab", "templates", "test.yml")
    spec, job = yaml.safe_load_all(source)
    assert set(spec) == {"spec"} and set(spec["spec"]) == {"inputs"}
    inputs = spec["spec"]["inputs"]
    assert all(set(given) <= {"description", "default", "type", "options", "regex"} for given in inputs.values())
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", source)) == set(inputs)
    (body,) = job.values()
    assert set(body) <= {"stage", "image", "variables", "id_tokens", "script"}
    assert not [line for line in body["script"] if "$[[" in line]


def test_the_plugin_keeps_buildkites_rules() -> None:
    plugin = yaml.safe_load(text("buildkite", "plugin.yml"))
    assert {"name", "description", "author", "requirements", "configuration"} == set(plugin)
    hook = FOLDER / "buildkite" / "hooks" / "command"
    assert hook.stat().st_mode & 0o111
    read = set(re.findall(r"BUILDKITE_PLUGIN_FLAKEBOARD_([A-Z0-9]+)", hook.read_text()))
    assert {name.lower() for name in read} == set(plugin["configuration"]["properties"])


def test_the_library_hands_over_every_variable_of_the_script() -> None:
    groovy = text("jenkins", "vars", "flakeboard.groovy")
    given = set(re.findall(r'"(FLAKEBOARD_\w+)=', groovy)) | set(re.findall(r"variable: '(FLAKEBOARD_\w+)'", groovy))
    documented = set(re.findall(r"FLAKEBOARD_\w+", SCRIPT.read_text())) - {"FLAKEBOARD_EXIT_CODE"}
    assert given == documented | {"FLAKEBOARD_ENVIRONMENT"}
    assert groovy.count("{") == groovy.count("}") and groovy.count("(") == groovy.count(")")


@pytest.mark.parametrize(
    ("command", "answer", "code"),
    [
        (WRITES, EXCUSED, 0),
        (WRITES, refused(failing("test_bad")), 3),
        (f"true && {WRITES}", EXCUSED, 0),
        (f"cd .\n{WRITES}\necho unreached", refused(failing("test_bad")), 3),
    ],
    ids=["excused", "held", "through a shell", "lines"],
)
def test_the_script_runs_the_tests_under_the_gate(
    tmp_path: Path, server: Misbehaving, command: str, answer: Any, code: int
) -> None:
    server.answers = [(200, zipped(tmp_path).read_bytes()), (200, answer)]
    done = script(tmp_path, server, FLAKEBOARD_COMMAND=command, FLAKEBOARD_REPORT="\n  report.xml \n")
    assert done.returncode == code, done.stdout
    assert [request.path for request in server.requests[:2]] == [
        "/client/flakeboard.pyz",
        "/api/v1/projects/shop/gate",
    ]
    assert server.requests[1].query["exit_code"] == "3" and set(server.requests[1].files()) == {"report.xml"}
    assert "unreached" not in done.stdout


@pytest.mark.parametrize(("given", "code", "path"), [("3", 3, "gate"), ("", 0, "uploads")], ids=["gate", "upload"])
def test_the_script_asks_about_an_earlier_step(
    tmp_path: Path, server: Misbehaving, given: str, code: int, path: str
) -> None:
    server.answers = [(200, zipped(tmp_path).read_bytes()), (200, {**ACCEPTED, **refused(failing("test_bad"))})]
    (tmp_path / "report.xml").write_text(FAILED)
    done = script(tmp_path, server, FLAKEBOARD_EXIT_CODE=given, FLAKEBOARD_REPORT="*.xml")
    assert done.returncode == code, done.stdout
    assert server.requests[1].path == "/api/v1/projects/shop/" + path


@pytest.mark.parametrize("pinned", ["", "0" * 64], ids=["server down", "client replaced"])
def test_without_the_client_the_tests_run_and_their_code_stays(
    tmp_path: Path, server: Misbehaving, pinned: str
) -> None:
    server.answers = [(200, zipped(tmp_path).read_bytes()) if pinned else error(502)]
    done = script(tmp_path, server, FLAKEBOARD_COMMAND=WRITES, FLAKEBOARD_SHA256=pinned)
    assert done.returncode == 3 and (tmp_path / "report.xml").exists()
    assert "warning: Flakeboard cannot be reached" in done.stdout and len(server.requests) == 1


def test_buildkites_hook_hands_over_command_and_reports(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, zipped(tmp_path).read_bytes()), (200, EXCUSED)]
    done = script(
        tmp_path,
        server,
        str(FOLDER / "buildkite" / "hooks" / "command"),
        BUILDKITE_PLUGIN_FLAKEBOARD_URL=server.url,
        BUILDKITE_PLUGIN_FLAKEBOARD_PROJECT="shop",
        BUILDKITE_PLUGIN_FLAKEBOARD_REPORT_0="report.xml",
        BUILDKITE_PLUGIN_FLAKEBOARD_REPORT_1="absent.xml",
        BUILDKITE_COMMAND=WRITES,
    )
    assert done.returncode == 3, "a report is missing, so the build stays red whatever the gate says"
    assert "No report was written that matches absent.xml" in done.stdout


def test_gitlabs_script_runs_as_it_stands(tmp_path: Path, server: Misbehaving) -> None:
    job = list(yaml.safe_load_all(text("gitlab", "templates", "test.yml")))[1]["$[[ inputs.job ]]"]
    server.answers = [(200, zipped(tmp_path).read_bytes()), (200, EXCUSED)]
    lines = "\n".join(job["script"])
    given = {"FLAKEBOARD_COMMAND": WRITES, "FLAKEBOARD_REPORT": "report.xml", "CI_PROJECT_DIR": str(tmp_path)}
    done = script(tmp_path, server, "sh", "-e", "-c", lines, **given)
    assert done.returncode == 0, done.stdout
