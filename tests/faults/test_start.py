"""What can be wrong at the start is one clear line, not a traceback."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings

from tests.conftest import ROOT
from tests.faults.server import BUSY, ONE_OF_EACH, Server, free_port, running
from tests.homes import furnish_static

pytestmark = pytest.mark.processes


def start(home: Path, **environment: str) -> tuple[int, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}
    done = subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=inherited | {"FLAKEBOARD_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=60 * BUSY,
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
        ({"LOG_LEVEL": "foo"}, "LOG_LEVEL='foo' must be one of DEBUG, INFO"),
        (
            {"DATABASE_URL": "postgres://u:p@127.0.0.1:1/flakeboard"},
            "database of DATABASE_URL cannot be used: connection",
        ),
        ({"DATABASE_URL": "postgres://127.0.0.1"}, "database of DATABASE_URL cannot be used"),
        (
            {"DATABASE_URL": "postgres://u@127.0.0.1/x?sslmode=maybe"},
            "database of DATABASE_URL cannot be used: invalid sslmode",
        ),
    ],
)
def test_a_damaged_setting_is_named(tmp_path: Path, environment: dict[str, str], words: str) -> None:
    code, said = start(tmp_path, **environment)
    assert code != 0
    assert words in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.skipif(not settings.EMBEDDED, reason="the database of the tests is not ours to ask")
def test_a_database_that_refuses_us_is_named(tmp_path: Path) -> None:
    socket_folder = quote(settings.DATABASES["default"]["HOST"], safe="")
    code, said = start(tmp_path, DATABASE_URL=f"postgres://stranger:wrong@{socket_folder}/flakeboard")
    assert code != 0
    assert 'role "stranger" does not exist' in said
    assert len(said.strip().splitlines()) == 1


def test_a_secret_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret_key").mkdir()
    code, said = start(tmp_path)
    assert code != 0
    assert f"{tmp_path / 'secret_key'} cannot be read or made" in said
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


@pytest.fixture(scope="module")
def in_a_long_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose home has a path too long for a socket, and is new: only folders that people keep there.

    Static files are among them, since compressing them takes seconds; all tests begin with collecting those."""
    home = tmp_path_factory.mktemp("home") / ("a-long-name-" * 9)
    (home / "kept").mkdir(parents=True)
    furnish_static(home)
    with running(home, **ONE_OF_EACH) as server:
        yield server


def test_a_long_home_path_works(in_a_long_path: Server) -> None:
    assert in_a_long_path.answers()


def test_a_second_one_in_the_same_home_is_refused(in_a_long_path: Server) -> None:
    code, said = start(in_a_long_path.home, PORT=str(free_port()))
    assert code != 0
    assert f"already runs from {in_a_long_path.home}" in said
    assert len(said.strip().splitlines()) == 1
