"""Selections judged by mutants: functions of real projects are broken one place at a time, and every test that turns
red must have been selected wherever the selection was called safe."""

import ast
import importlib.util
import math
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from flakeboard.node_names import file_of, names_of
from flakeboard.schedules.changes import WorkTree
from flakeboard.schedules.concerns import Collected, concerns_of
from flakeboard.schedules.coverage_body import body_of
from flakeboard.schedules.coverage_file import read_coverage

from analytics.lab.schedules.collected_tests import CollectedTests
from analytics.lab.schedules.coverage_selection import selected
from analytics.lab.schedules.request import Change
from bench.outcome import Outcome
from ingest.lab.coverage import coverage_keep
from ingest.models import Project
from ingest.services import project_create
from tests.paths import DATA, ROOT
from tools.mutations import mutants

SUBJECTS = {"pythondi-913e6a60": "pythondi", "python-ansel-afb2b28d": "ansel", "dotty_dict-ae87e3fb": "dotty_dict"}
"""Archive -> the folder of its sources. The smallest comes first: what it lacks, the others make up for."""
RED = int(os.environ.get("MUTANTS", "100"))
_SECONDS = 60
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false")


class Judged(NamedTuple):
    red: int
    safe: int
    missed: int
    selected: float


def run() -> Iterable[Outcome]:
    present = [name for name in SUBJECTS if (DATA / "subjects" / f"{name}.tar.gz").exists()]
    if not present or importlib.util.find_spec("coverage") is None:
        yield Outcome("selections by mutants: no subjects, or no coverage.py", 0, aim="not measured")
        return
    judged: list[Judged] = []
    for name in present:
        missing = RED - sum(each.red for each in judged)
        judged.append(_judged(name, math.ceil(missing / (len(present) - len(judged)))))
    red, safe, missed = (sum(getattr(each, field) for each in judged) for field in ("red", "safe", "missed"))
    yield Outcome(f"mutants of {len(present)} projects that turn a test red", red, least=RED)
    yield Outcome("of them with a selection that was called safe", safe, aim="the more the better")
    yield Outcome("red tests that a safe selection lacked", missed, most=0)
    share = sum(each.selected for each in judged) / max(safe, 1)
    yield Outcome("share of the tests that a safe selection runs", share, aim="the less the better")


def _judged(name: str, wanted: int) -> Judged:
    with tempfile.TemporaryDirectory(prefix="flakeboard-mutants-") as folder:
        with tarfile.open(DATA / "subjects" / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        (top,) = [path for path in Path(folder).iterdir() if path.is_dir()]
        return _Subject(name, top).judged(wanted)


class _Subject:
    def __init__(self, name: str, top: Path) -> None:
        self._top, self._sources = top, sorted((top / SUBJECTS[name]).rglob("*.py"))
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "subject")):
            subprocess.run([*_GIT, *words], cwd=top, check=True)
        self._here = os.getcwd()
        self._project: Project = project_create(slug=name.lower().replace("_", "-"), name=name)
        self._green = self._tests("coverage", "run", "-m", "pytest", "--flakeboard-coverage")
        os.chdir(top)
        self._tree = WorkTree()
        self._commit = self._tree.commit_of("HEAD")
        maps = read_coverage(".coverage", str(top))
        revision = {"commit": self._commit, "tree": "", "branch": "main"}
        self._coverage = coverage_keep(project=self._project, content=body_of(maps, revision, str(top)))
        (top / ".coverage").unlink()
        self._ids = list(self._green)

    def judged(self, wanted: int) -> Judged:
        red = safe = missed = 0
        share = 0.0
        try:
            for path, source in self._mutants():
                if red >= wanted:
                    break
                before = path.read_text()
                path.write_text(source)
                try:
                    failing = self._newly_failing()
                    if failing:
                        chosen = self._selected()
                        red += 1
                        safe += chosen is not None
                        missed += len(failing - chosen) if chosen is not None else 0
                        share += len(chosen) / len(self._ids) if chosen is not None else 0
                finally:
                    path.write_text(before)
        finally:
            os.chdir(self._here)
        return Judged(red, safe, missed, share)

    def _mutants(self) -> Iterator[tuple[Path, str]]:
        """In a drawn order, each as a change of its own line in the text as it is written."""
        every = [(path, mutant) for path in self._sources for mutant in mutants(path.name, path.read_text())]
        random.Random(7).shuffle(every)
        for path, mutant in every:
            changed = one_line(path.read_text(), mutant.source, mutant.line)
            if changed:
                yield path, changed

    def _newly_failing(self) -> set[str]:
        now = self._tests("pytest")
        return (
            {node_id for node_id in self._ids if self._green[node_id] and not now.get(node_id, False)} if now else set()
        )

    def _tests(self, *module: str) -> dict[str, bool]:
        """Node id -> whether it passed; nothing where the session broke off."""
        report = self._top / "report.xml"
        words = [sys.executable, "-m", *module, "-q", "-p", "no:cacheprovider", "-p", "flakeboard.pytest_plugin"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "PYTHONDONTWRITEBYTECODE": "1"}
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        try:
            subprocess.run(
                [
                    *words,
                    "-o",
                    "junit_logging=no",
                    "-o",
                    "addopts=",
                    f"--junitxml={report}",
                    "-o",
                    "junit_family=xunit1",
                ],
                cwd=self._top,
                env=environ,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {}
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
        report.unlink(missing_ok=True)
        return {node_id_of(case): not case.findall("failure") and not case.findall("error") for case in cases}

    def _selected(self) -> set[str] | None:
        """What `select` would run; None where it says that the selection is not safe."""
        collected = Collected(self._ids, str(self._top), self._tree.top)
        files = self._tree.changed_since(self._commit)
        found = concerns_of(self._tree, self._commit, files, collected, "statements")
        tests = CollectedTests([(*names_of(node_id), file_of(node_id)) for node_id in self._ids])
        change = Change(self._coverage.pk, found.lines, sorted(found.tests), found.unsafe)
        selection = selected(self._project, tests, change)
        return None if selection.unsafe else {self._ids[place] for place in selection.chosen}


def node_id_of(case: ElementTree.Element) -> str:
    file, classname = case.get("file", ""), case.get("classname", "")
    module = file.removesuffix(".py").replace("/", ".")
    classes = [part for part in classname[len(module) :].split(".") if part]
    return "::".join([file, *classes, case.get("name", "")])


def one_line(before: str, mutated: str, line: int) -> str:
    """The text with the mutant's statement in place of its own, where that is a single line; empty where it is not.

    A mutant comes as a whole module without comments: its statement is found by comparing it with the module as it is,
    written in the same way."""
    plain = ast.unparse(ast.parse(before)).split("\n")
    changed = mutated.split("\n")
    places = [at for at in range(min(len(plain), len(changed))) if plain[at] != changed[at]]
    if len(plain) != len(changed) or len(places) != 1:
        return ""
    lines = before.split("\n")
    own = lines[line - 1]
    if _as_unparsed(own) != plain[places[0]].strip():
        return ""
    lines[line - 1] = own[: len(own) - len(own.lstrip())] + changed[places[0]].strip()
    return "\n".join(lines)


def _as_unparsed(text: str) -> str:
    """A line as `ast.unparse` writes it; the line itself where it is no statement by itself."""
    written = text.strip()
    header = written.endswith(":")
    try:
        plain = ast.unparse(ast.parse(written + (" pass" if header else "")))
    except SyntaxError:
        return written
    return plain.split("\n")[0] if header else plain
