"""What can be wrong at the start is one clear line, not a traceback."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.faults.server import running

pytestmark = pytest.mark.processes


def start(home: Path, **environment: str) -> tuple[int, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}
    done = subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=inherited | {"FLAKEBOARD_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"PORT": "http"}, "PORT='http' must be a whole number"),
        ({"PORT": "99999"}, "PORT='99999' must be a whole number"),
        ({"DATABASE_URL": "mysql://x"}, "DATABASE_URL must be a URL that starts with postgres"),
        ({"BROKER_URL": "kafka://x"}, "BROKER_URL must be a URL that starts with"),
        ({"LIMIT_DEPTH": "-1"}, "LIMIT_DEPTH='-1' must be a whole number"),
        ({"DEBUG": "maybe"}, "DEBUG='maybe' must be true or false"),
    ],
)
def test_a_damaged_setting_is_named(tmp_path: Path, environment: dict[str, str], words: str) -> None:
    code, said = start(tmp_path, **environment)
    assert code != 0
    assert words in said
    assert len(said.strip().splitlines()) == 1


def test_a_busy_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        code, said = start(tmp_path, PORT=str(busy.getsockname()[1]))
    assert code != 0
    assert "cannot be used (Address already in use). Set PORT" in said
    assert len(said.strip().splitlines()) == 1


def test_a_home_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, said = start(tmp_path / "file" / "home")
    assert code != 0
    assert "FLAKEBOARD_HOME" in said
    assert len(said.strip().splitlines()) == 1


def test_a_second_one_in_the_same_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with running(tmp_path / "home") as first:
        code, said = start(tmp_path / "home", PORT=str(first.port + 1))
    assert code != 0
    assert f"already runs from {tmp_path / 'home'}" in said
    assert len(said.strip().splitlines()) == 1


def test_a_long_home_path_works(tmp_path: Path) -> None:
    home = tmp_path / ("a-long-name-" * 9)
    home.mkdir()
    with running(home) as server:
        assert server.answers()
