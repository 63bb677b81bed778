"""Which lines of a revision a change concerns, so that the tests which covered them can be found by its coverage.

A line stands for its statement. What was added is looked for in the whole function around it: a test that goes through
the new code need not have gone through the lines beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Iterable, Sequence

from flakeboard.node_names import file_of
from flakeboard.problems import Problem
from flakeboard.schedules.changes import ChangedFile, Hunk, WorkTree
from flakeboard.schedules.source_lines import Function, SourceLines, Span

FUNCTIONS = "functions"


@dataclass
class Concerns:
    lines: dict[str, list[Span]] = field(default_factory=dict)
    """By file, as the revision of the coverage numbers them."""
    tests: set[int] = field(default_factory=set)
    """Places of tests that are new or changed."""
    unsafe: list[str] = field(default_factory=list)
    """Why other tests may be concerned too: then all of them run."""


class Collected:
    """Collected tests by file, as paths from the top of the checkout."""

    def __init__(self, node_ids: Sequence[str], rootdir: str, top: str) -> None:
        self._places: dict[str, dict[str, list[int]]] = {}
        """File -> function, as `TestCart.test_total` -> places of its tests."""
        for place, node_id in enumerate(node_ids):
            path = os.path.relpath(os.path.join(os.path.realpath(rootdir), file_of(node_id)), os.path.realpath(top))
            function = ".".join(node_id.partition("[")[0].split("::")[1:])
            self._places.setdefault(path.replace(os.sep, "/"), {}).setdefault(function, []).append(place)

    def functions(self, path: str) -> dict[str, list[int]]:
        return self._places.get(path, {})

    def tests(self, path: str) -> list[int]:
        return [place for places in self.functions(path).values() for place in places]


def concerns_of(tree: WorkTree, commit: str, files: Iterable[ChangedFile], collected: Collected, by: str) -> Concerns:
    """Everything that changed since the commit."""
    found = Concerns()
    for file in files:
        _Change(tree, commit, file, collected, by, found).note()
    return found


class _Change:
    """One changed file."""

    def __init__(
        self, tree: WorkTree, commit: str, file: ChangedFile, collected: Collected, by: str, found: Concerns
    ) -> None:
        self._tree, self._commit, self._path, self._status = tree, commit, file.path, file.status
        self._tests, self._own = collected.functions(file.path), collected.tests(file.path)
        self._by, self._found = by, found

    def note(self) -> None:
        try:
            self._look()
        except (SyntaxError, ValueError, RecursionError):
            self._found.unsafe.append(f"{self._path} cannot be read as Python")
        except Problem as problem:
            self._found.unsafe.append(str(problem))

    def _look(self) -> None:
        path, name = self._path, os.path.basename(self._path)
        if not path.endswith(".py"):
            self._found.unsafe.append(f"{path} is no source that coverage measures")
        elif name == "conftest.py":
            self._found.unsafe.append(f"{path} can concern every test below it")
        elif self._own:
            self._look_at_tests()
        elif self._status == "D" and name.startswith("test_"):
            self._elsewhere("was deleted")
        elif self._status != "M":
            self._found.unsafe.append(f"{path} was {'added' if self._status == 'A' else 'deleted'}")
        else:
            self._look_at_source()

    # -- what tests run ------------------------------------------------------------------------------------------

    def _look_at_source(self) -> None:
        old, new = self._versions()
        spans: dict[Span, None] = {}
        for hunk in self._tree.hunks(self._commit, self._path):
            for span in self._spans(hunk, old, new):
                if span is None:
                    return self._module_level()
                spans.setdefault(span)
        self._found.lines[self._path] = sorted(spans)
        return None

    def _versions(self) -> tuple[SourceLines, SourceLines]:
        return SourceLines(self._tree.before(self._commit, self._path)), SourceLines(self._tree.now(self._path))

    def _module_level(self) -> None:
        self._found.unsafe.append(f"a line of {self._path} changed that runs when it is imported")

    def _spans(self, hunk: Hunk, old: SourceLines, new: SourceLines) -> Iterable[Span | None]:
        """The lines that a part of the change concerns; None for what runs at import."""
        precise = hunk.old_count == hunk.new_count
        for line in hunk.old_lines:
            place = old.place(line)
            if place is not None:
                yield place.function and (self._wide(place.function) or place.statement or place.function.body)
        for at, line in enumerate(hunk.new_lines):
            place, twin = new.place(line), hunk.old + at
            if place is None:
                continue
            if precise and old.place(twin) is not None and old.indentation(twin) == new.indentation(line):
                if place.function is None:
                    yield None
                continue
            if place.function is None:
                yield None
            else:
                known = old.named(place.function.name)
                if known is not None:  # else it is new itself, and its header says where
                    yield known.body

    def _wide(self, function: Function) -> Span | None:
        return function.body if self._by == FUNCTIONS else None

    # -- tests ---------------------------------------------------------------------------------------------------

    def _look_at_tests(self) -> None:
        """New and changed tests by their functions; what is around them concerns every test of the file."""
        if self._status == "A":
            self._found.tests.update(self._own)
            return
        old, new = self._versions()
        around = False
        for hunk in self._tree.hunks(self._commit, self._path):
            for lines, version, is_old in ((hunk.old_lines, old, True), (hunk.new_lines, new, False)):
                for line in lines:
                    around |= self._concerns_more(line, version, is_old)
        if around:
            self._found.tests.update(self._own)
            self._elsewhere("changed outside of its tests")

    def _concerns_more(self, line: int, version: SourceLines, is_old: bool) -> bool:
        """Note the test that the line belongs to; true for a line of no test."""
        if version.place(line) is None:
            return False
        function = version.function_at(line)
        name = "" if function is None else function.name.partition(".<locals>")[0]
        if name in self._tests:
            self._found.tests.update(self._tests[name])
            return False
        is_gone = is_old and name.rpartition(".")[2].startswith("test")
        return not is_gone

    def _elsewhere(self, what: str) -> None:
        """A test file is rarely imported by another; where one has its name, it may be."""
        module = os.path.splitext(os.path.basename(self._path))[0]
        if self._tree.mentions(module, self._path):
            self._found.unsafe.append(f"{self._path} {what}, and another file has its name")
