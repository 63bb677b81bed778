"""Shared state has a name, and what restores it is a fixture to paste."""

from __future__ import annotations

import functools
import logging
import os
import random
import socket
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from flakeboard.detection.execution.outcomes import Outcome
from flakeboard.detection.search.reset_fixture import CleanerSource
from flakeboard.detection.search.state import leftovers
from flakeboard.plugin.lab_state import StateWatch
from flakeboard.plugin.lab_values import fingerprint, held_by

from tests.lab.detect.commands import Command


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module of the project."""
    made = types.ModuleType("planted_module")
    made.__file__ = str(tmp_path / "planted_module.py")
    monkeypatch.setitem(sys.modules, "planted_module", made)
    made.rows = []  # type: ignore[attr-defined]
    made.kind = type("Kind", (), {"instance": None, "__module__": "planted_module"})  # type: ignore[attr-defined]
    made.cached = functools.lru_cache(maxsize=None)(lambda value: value)  # type: ignore[attr-defined]
    return made


Left = Callable[[Callable[[], object]], list[str]]


@pytest.fixture
def left(tmp_path: Path) -> Left:
    """What a change leaves, in words. One watch for all of a test: it looks up once whose modules are whose."""
    watch = StateWatch(str(tmp_path))

    def leave(change: Callable[[], object]) -> list[str]:
        watch.after()  # what came before is not of this change
        change()
        return leftovers(Outcome("P", (), 0.0, state={0: watch.after()}), 0)

    return leave


def test_nothing_is_claimed_where_nothing_is_left(left: Left, module: types.ModuleType) -> None:
    assert left(lambda: None) == []
    assert left(lambda: (module.rows.append(1), module.rows.pop())) == []
    assert left(random.random) == []


def test_what_is_left_is_named(
    left: Left, tmp_path: Path, module: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_OLD", "1")
    monkeypatch.delenv("PLANTED_NEW", raising=False)
    assert left(lambda: monkeypatch.setenv("PLANTED_NEW", "1")) == ["`PLANTED_NEW` set in the environment"]
    assert left(lambda: monkeypatch.delenv("PLANTED_OLD")) == ["`PLANTED_OLD` removed in the environment"]
    assert left(lambda: module.rows.append(1)) == ["`planted_module.rows` changed"]
    assert left(lambda: setattr(module.kind, "instance", object())) == ["`planted_module.kind.instance` changed"]
    assert left(lambda: module.cached(1)) == ["the cache of `planted_module.cached` changed"]
    assert left(lambda: (tmp_path / "left.txt").touch()) == ["file `left.txt` created"]
    assert left(lambda: monkeypatch.chdir(tmp_path)) == ["the working folder changed"]
    assert left(lambda: monkeypatch.syspath_prepend(str(tmp_path / "more"))) == ["the sys.path changed"]
    logger = logging.getLogger("planted")
    assert left(lambda: logger.setLevel(10)) == ["logger `planted` set"]
    logger.setLevel(0)
    with warnings.catch_warnings():
        assert left(lambda: warnings.simplefilter("ignore", UserWarning)) == ["the filters of warnings changed"]


def test_files_that_stay_open_are_named(tmp_path: Path) -> None:
    opened = []
    target = tmp_path / "held"
    target.touch()
    watch = StateWatch(str(tmp_path))
    watch.before()
    opened.append(os.open(target, os.O_RDONLY))
    assert leftovers(Outcome("P", (), 0.0, state={0: watch.after()}), 0) == [f"`{target}` open"]
    os.close(opened[0])


def test_sockets_and_pipes_that_open_or_close_are_not_named(left: Left) -> None:
    held: list[socket.socket] = []
    ends: list[int] = []
    assert left(lambda: held.extend(socket.socketpair())) == []
    assert left(lambda: ends.extend(os.pipe())) == []
    assert left(lambda: ([each.close() for each in held], [os.close(end) for end in ends])) == []


def test_foreign_code_is_never_called() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise AssertionError

        __eq__ = __hash__ = __len__ = __iter__ = __getattr__ = __repr__  # type: ignore[assignment]

    class Listed(list):  # type: ignore[type-arg]
        __iter__ = __len__ = Hostile.__repr__  # type: ignore[assignment]

    first, second = Hostile(), Hostile()
    second.__dict__["value"] = 1
    assert fingerprint(first) != fingerprint(second)
    assert fingerprint(Listed([1])) != fingerprint(Listed([2]))
    loop: list[object] = []
    loop.append(loop)
    assert fingerprint(loop)
    assert dict(held_by("m", {"value": first}))["m.value"].endswith("Hostile([])")


PROJECT = {
    "test_a.py": "import os\ndef test_victim():\n    assert 'LEFT' not in os.environ\n",
    "test_b.py": (
        "import os, tempfile\nNAME = 'LEFT'\n"
        "def test_cleaner(tmp_path):\n"
        "    'Cleans up.'\n"
        "    folder = tempfile.gettempdir()\n"
        "    os.environ.pop(\n        NAME,\n        None,\n    )\n"
        "    assert tmp_path and folder\n"
    ),
    "test_c.py": "import os\ndef test_polluter():\n    os.environ['LEFT'] = '1'\n",
}
FIXTURE = '''import pytest
import os, tempfile
# NAME: as in test_b.py


@pytest.fixture(autouse=True)
def reset_before_test_victim():
    """What test_b.py::test_cleaner does that lets test_a.py::test_victim pass."""
    os.environ.pop(
        NAME,
        None,
    )'''


@pytest.mark.usefixtures("shown_once")
def test_the_state_is_told_and_the_statement_that_restores_it(detect: Command) -> None:
    for name, text in PROJECT.items():
        (detect.folder / name).write_text(text)
    call = detect("--no-upload", "--how", "one-by-one", "--isolate", "1")
    (found,) = call.told["found"]
    assert found["groups"][0]["cleaners"] == ["test_b.py::test_cleaner"]
    restores = "test_c.py::test_polluter leaves `LEFT` set in the environment, test_b.py::test_cleaner restores it"
    assert found["state"] == [restores]
    assert found["fixture"] == FIXTURE
    assert "    " + FIXTURE.splitlines()[-1] in call.printed


def test_a_cleaner_without_a_function_of_its_own_gives_no_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("class TestX:\n    def test_y(self):\n        pass\n")
    assert CleanerSource.read(str(tmp_path), "test_x.py::TestX::test_y[1]") is not None
    assert CleanerSource.read(str(tmp_path), "test_x.py::TestX::test_z") is None
    assert CleanerSource.read(str(tmp_path), "gone.py::test_y") is None
