"""Tests that are new or changed since a commit, by the words of their source."""

from __future__ import annotations

import os
from typing import Iterator, Sequence

from flakeboard.detection.changed.changes import Changes
from flakeboard.sketches.functions import functions, python_functions
from flakeboard.sketches.languages import language_of
from flakeboard.sketches.reported import Names
from flakeboard.sketches.sketch import words_of
from flakeboard.sketches.sources import LARGEST, Sketched, Sources


def python_tests(changes: Changes) -> list[Names]:
    """The test functions of changed Python files, as pytest's report names them."""
    return [names for path in sorted(changes.files) if path.endswith(".py") for names in _tests_in(changes.top, path)]


def _tests_in(top: str, path: str) -> Iterator[Names]:
    try:
        with open(os.path.join(top, path), "rb") as file:
            source = file.read(LARGEST + 1).decode("utf-8-sig", "replace")
    except OSError:
        return
    module = path[: -len(".py")].replace("/", ".")
    for classes, node in python_functions(source):
        if node.name.startswith("test") and all(name.startswith("Test") or name.endswith("Test") for name in classes):
            yield ".".join([module, *classes]), node.name, path


def changed_tests(changes: Changes, sources: Sources, tests: Sequence[Names]) -> list[Sketched]:
    """Those whose function is not in the commit, or has other words there."""
    found = [sources.sketched(*names) for names in tests]
    return [test for test in found if test.path.replace(os.sep, "/") in changes.files and _differs(changes, test)]


def _differs(changes: Changes, test: Sketched) -> bool:
    before, language = changes.files[test.path.replace(os.sep, "/")], language_of(test.path)
    if not before or language is None:
        return True
    there = functions(language, changes.content(before), test.classname, test.name)
    return not any(words_of(function.text) == test.words for function in there)
