"""What can be wrong at the start is one clear line, not a traceback."""

import socket
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings

from tests.faults.server import try_to_start

pytestmark = pytest.mark.processes


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
    code, said = try_to_start(tmp_path, **environment)
    assert code != 0
    assert words in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.skipif(not settings.EMBEDDED, reason="the database of the tests is not ours to ask")
def test_a_database_that_refuses_us_is_named(tmp_path: Path) -> None:
    socket_folder = quote(settings.DATABASES["default"]["HOST"], safe="")
    code, said = try_to_start(tmp_path, DATABASE_URL=f"postgres://stranger:wrong@{socket_folder}/flakeboard")
    assert code != 0
    assert 'role "stranger" does not exist' in said
    assert len(said.strip().splitlines()) == 1


def test_a_secret_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret_key").mkdir()
    code, said = try_to_start(tmp_path)
    assert code != 0
    assert f"{tmp_path / 'secret_key'} cannot be read or made" in said
    assert len(said.strip().splitlines()) == 1


def test_a_busy_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        code, said = try_to_start(tmp_path, PORT=str(busy.getsockname()[1]))
    assert code != 0
    assert "cannot be used (Address already in use). Set PORT" in said
    assert len(said.strip().splitlines()) == 1


def test_a_home_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, said = try_to_start(tmp_path / "file" / "home")
    assert code != 0
    assert "FLAKEBOARD_HOME" in said
    assert len(said.strip().splitlines()) == 1
