"""Tests by the names that a client gives them, which are pytest's node ids or class and name."""

from collections import defaultdict
from collections.abc import Iterable

from ingest.identity import TestName, test_digest
from ingest.junit.keys import keys_of_collected
from ingest.junit.report import TestKey
from ingest.models import Project, Test

_BATCH = 5_000


def class_and_name(reference: str) -> tuple[str, str]:
    """Class and name of a node id, as pytest's own report has them; the parameter may contain anything."""
    path, bracket, parameters = reference.partition("[")
    first, *rest = path.split("::")
    if not rest:
        return "", reference
    module = first.removesuffix(".py").replace("/", ".")
    return ".".join([module, *rest[:-1]]), rest[-1] + bracket + parameters


def node_id_of(test: TestName) -> str | None:
    """The node id by which pytest finds a test; None where file and class do not tell it."""
    file = test.file or _file_of(test.classname)
    module = file.removesuffix(".py").replace("/", ".")
    classname = test.classname or (module if module == test.name else "")  # the reader drops a class called as the test
    if not file.endswith(".py") or not f"{classname}.".startswith(f"{module}."):
        return None
    classes = [part for part in classname[len(module) :].split(".") if part]
    return "::".join([file, *classes, test.name])


def _file_of(classname: str) -> str:
    """The file that a class name of pytest begins with, as pytest's own report leaves it out; empty if none is known.

    By the names that pytest collects unless it is told otherwise: test_*.py and *_test.py."""
    parts = classname.split(".")
    for at, part in enumerate(parts):
        if part.startswith("test_") or part.endswith("_test"):
            return "/".join(parts[: at + 1]) + ".py"
    return ""


def reference_of(test: TestName) -> str:
    """The node id, or class and name where there is none."""
    return node_id_of(test) or "::".join(filter(None, (test.classname or test.suite, test.name)))


class Resolver:
    """Finds the tests of a project that references name."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, int] = {}

    def numbers(self, references: Iterable[str]) -> dict[str, int]:
        """Reference -> current number of its test; without those that no report has named yet."""
        wanted = dict.fromkeys(references)
        missing = [reference for reference in wanted if reference not in self._known]
        for start in range(0, len(missing), _BATCH):
            self._find(missing[start : start + _BATCH])
        return {reference: self._known[reference] for reference in wanted if reference in self._known}

    def _find(self, references: list[str]) -> None:
        keys = {reference: _keys(reference) for reference in references}
        by_digest = {test_digest(key): reference for reference, several in keys.items() for key in several}
        found = Test.objects.filter(project=self._project, digest__in=list(by_digest)).select_related("alias_of")
        for test in found.order_by("number"):
            self._known.setdefault(by_digest[bytes(test.digest)], (test.alias_of or test).number)
        self._find_by_name({reference: keys[reference] for reference in references if reference not in self._known})

    def _find_by_name(self, keys: dict[str, list[TestKey]]) -> None:
        """Tests whose suite or id is part of their identity: the one whose file is named, else the first."""
        if not keys:
            return
        names = {key[2] for several in keys.values() for key in several}
        rows = Test.objects.filter(project=self._project, name__in=names).select_related("alias_of").order_by("number")
        alike: dict[tuple[str, str], list[Test]] = defaultdict(list)
        for row in rows:
            alike[row.classname, row.name].append(row)
        for reference, several in keys.items():
            same = [row for key in several for row in alike[key[1:3]]]
            same.sort(key=lambda row: row.file != _file_named(reference))
            if same:
                self._known[reference] = (same[0].alias_of or same[0]).number


def _keys(reference: str) -> list[TestKey]:
    return keys_of_collected(*class_and_name(reference), _file_named(reference))


def _file_named(reference: str) -> str:
    file, colons, _ = reference.partition("::")
    return file if colons else ""
