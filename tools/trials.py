"""Tries one mutant: a forked process with the changed module, and pytest's result there."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType

import pytest
from mutations import Mutant

ROOT = Path(__file__).resolve().parent.parent
MUTANT_CPU_SECONDS, MUTANT_SECONDS = 60, 600
"""A mutant that takes longer counts as noticed; normal tests take a few seconds."""

Applied = Callable[[str, str], None]
"""How a process gets the changed source of a module."""


class _ChangedModule(importlib.abc.MetaPathFinder):
    """Finds the changed source of one module."""

    def __init__(self, name: str, source: str) -> None:
        self._name, self._source = name, source

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        file = str(file_of(name))
        source = self._source

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str):  # type: ignore[no-untyped-def]
                return compile(source, file, "exec")

        return importlib.util.spec_from_file_location(name, file, loader=Loader(name, file))


def file_of(module: str) -> Path:
    folder = ROOT / "client" if module.startswith("flakeboard.") else ROOT
    return folder / Path(*module.split(".")).with_suffix(".py")


def import_changed(module: str, source: str) -> None:
    """Change a module that is not imported yet."""
    sys.meta_path.insert(0, _ChangedModule(module, source))


def change_imported(module: str, source: str) -> None:
    """Change an imported module: run it again, and update names that others imported from it."""
    there = vars(sys.modules[module])
    before = {id(value): name for name, value in there.items() if isinstance(value, FunctionType | type | tuple | dict)}
    old = dict(there)  # keeps the replaced objects alive, so that no id is reused
    exec(compile(source, str(file_of(module)), "exec"), there)  # noqa: S102 - our own source
    for other in list(sys.modules.values()):
        for name, value in list(vars(other).items()) if hasattr(other, "__dict__") else ():
            if id(value) in before and value is not there:
                setattr(other, name, there[before[id(value)]])
    del old


def exit_code(apply: Applied, mutant: Mutant, arguments: Sequence[str]) -> int:
    """Pytest's exit code for a mutant, in a separate process; negative if it was killed."""
    child = os.fork()
    if child == 0:
        _be_child(apply, mutant, arguments)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _be_child(apply: Applied, mutant: Mutant, arguments: Sequence[str]) -> None:
    code = 98
    try:
        signal.alarm(MUTANT_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (MUTANT_CPU_SECONDS, MUTANT_CPU_SECONDS))
        with open(os.environ["MUTANT_LOG"], "ab") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        sys.stdout.write(f"\n== {mutant.module}:{mutant.line} {mutant.what}\n")
        try:
            apply(mutant.module, mutant.source)
        except Exception:
            code = 2  # as if tests could not be collected
            raise
        there = "--reuse-db" in arguments and "--create-db" not in arguments
        plugins: list[object] = [_PureFirst(), _DatabaseIsThere()] if there else [_PureFirst()]
        code = int(pytest.main(["-x", "-q", "--tb=line", *arguments], plugins=plugins))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _PureFirst:
    """Orders tests: those that need no database come first."""

    def pytest_collection_modifyitems(self, items: list) -> None:  # type: ignore[type-arg]
        items.sort(key=lambda item: "db" in item.fixturenames or "transactional_db" in item.fixturenames)


class _DatabaseIsThere:
    """Uses the existing test database without checking its migrations, which takes seconds."""

    @pytest.fixture(scope="session")
    def django_db_setup(self, django_db_blocker) -> None:  # type: ignore[no-untyped-def]
        from django.db import connection

        with django_db_blocker.unblock():
            connection.close()
            connection.settings_dict["NAME"] = connection.creation._get_test_db_name()
