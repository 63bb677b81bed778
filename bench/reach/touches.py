"""Touches judged by made changes: functions of real projects are broken one place at a time, and no test whose result
changes may be told not to touch the change."""

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

from flakeboard.reach.change import described

from analytics.reach.touches import Answer, UsedCode, touches
from bench.outcome import Outcome
from bench.schedules.mutants import node_id_of, one_line
from ingest.reach.change_file import Change, ChangedFile
from ingest.reach.reach_file import ReachFile, read_reach
from tests.paths import DATA, ROOT
from tools.mutations import mutants

SUBJECTS = {"pythondi-913e6a60": "pythondi", "python-ansel-afb2b28d": "ansel", "dotty_dict-ae87e3fb": "dotty_dict"}
"""Archive -> the folder of its sources; those that can be changed in few places first."""
CHANGES = int(os.environ.get("CHANGES", "200"))
_SECONDS = 120
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false")


class Judged(NamedTuple):
    changes: int = 0
    affected: int = 0
    """Tests whose result changed, all changes together."""
    missed: int = 0
    """Of them, those that were told not to touch the change."""
    missed_by_base: int = 0
    """The same by what they used before the change alone."""
    unaffected: int = 0
    """Tests whose result did not change, of changes in one function."""
    told_no: int = 0

    def plus(self, other: "Judged") -> "Judged":
        return Judged(*(own + theirs for own, theirs in zip(self, other, strict=True)))


def run() -> Iterable[Outcome]:
    present = [name for name in SUBJECTS if (DATA / "subjects" / f"{name}.tar.gz").exists()]
    if not present:
        yield Outcome("touches: no subjects", 0, aim="not measured")
        return
    judged = Judged()
    for place, name in enumerate(present):
        left = CHANGES - judged.changes
        judged = judged.plus(judge(name, -(-left // (len(present) - place))))
    yield Outcome(f"touches: made changes in {len(present)} projects", judged.changes, least=CHANGES)
    yield Outcome("touches: results of tests that they change", judged.affected, aim="the more the better")
    yield Outcome("touches: of these, told not to touch the change", judged.missed, most=0)
    yield Outcome("touches: the same by what they used before the change", judged.missed_by_base, most=0)
    share = judged.told_no / max(judged.unaffected, 1)
    yield Outcome("touches: unaffected tests told so, changes of one function", share, least=0.60)


def judge(name: str, wanted: int) -> Judged:
    with tempfile.TemporaryDirectory(prefix="flakeboard-touches-") as folder:
        with tarfile.open(DATA / "subjects" / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        (top,) = [path for path in Path(folder).iterdir() if path.is_dir()]
        return _Subject(top, SUBJECTS[name]).judged(wanted)


class _Subject:
    def __init__(self, top: Path, sources: str) -> None:
        self._top, self._sources = top, sorted((top / sources).rglob("*.py"))
        (top / ".gitignore").write_text("report.xml\nflakeboard-reach*\n__pycache__\n*.egg-info\n")
        self._git("init", "-q")
        self._git("add", "-A")
        self._git("commit", "-qm", "subject")
        self._base = self._git("rev-parse", "HEAD")
        self._green, self._used = self._tests()

    def _git(self, *words: str) -> str:
        done = subprocess.run([*_GIT, *words], cwd=self._top, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def judged(self, wanted: int) -> Judged:
        total = Judged()
        for path, source in self._mutants():
            if total.changes >= wanted:
                break
            path.write_text(source)
            try:
                found = self._of_change()
            finally:
                self._git("reset", "-q", "--hard", self._base)
            total = total.plus(found)
        return total

    def _mutants(self) -> Iterator[tuple[Path, str]]:
        """In a drawn order, each as a change of its own line in the text as it is written."""
        every = [(path, mutant) for path in self._sources for mutant in mutants(path.name, path.read_text())]
        random.Random(11).shuffle(every)
        for path, mutant in every:
            changed = one_line(path.read_text(), mutant.source, mutant.line)
            if changed:
                yield path, changed

    def _of_change(self) -> Judged:
        self._git("commit", "-qam", "change")
        try:
            now, own = self._tests()
        except subprocess.TimeoutExpired:
            return Judged()
        change = self._change()
        affected = [test for test in self._green if now.get(test) != self._green[test]]
        unaffected = [test for test in self._green if now.get(test) == self._green[test]]
        missed = by_base = told_no = 0
        for test in affected:
            missed += _is_no(change, own.get(test) or self._before(test))
            by_base += _is_no(change, self._before(test))
        is_single = len(change.files) == 1 and len(change.files[0].functions) == 1 and not change.files[0].outside
        for test in unaffected if is_single else ():
            told_no += _is_no(change, own.get(test) or self._before(test))
        return Judged(1, len(affected), missed, by_base, len(unaffected) if is_single else 0, told_no)

    def _before(self, test: str) -> UsedCode | None:
        """What a test used before the change."""
        found = self._used.get(test)
        if found is None:
            return None
        return UsedCode(found.functions, found.files, found.modules, found.outside, found.incomplete, False)

    def _change(self) -> Change:
        here = os.getcwd()
        os.chdir(self._top)
        try:
            body = described(self._base)
        finally:
            os.chdir(here)
        files = [
            ChangedFile(file["path"], file["status"], frozenset(file.get("functions", ())), file.get("outside", False))
            for file in body["files"]
        ]
        return Change(body["base"], body["head"], tuple(files))

    def _tests(self) -> tuple[dict[str, bool], dict[str, UsedCode]]:
        """By test: whether it passed, and what it used."""
        report, reach = self._top / "report.xml", self._top / "flakeboard-reach.jsonl"
        report.unlink(missing_ok=True)
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "flakeboard.pytest_plugin"]
        options = ["-o", "junit_logging=no", "-o", "addopts=", f"--junitxml={report}", "-o", "junit_family=xunit1"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "PYTHONDONTWRITEBYTECODE": "1"}
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        subprocess.run(
            [*words, *options, "--flakeboard-reach"],
            cwd=self._top,
            env=environ,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
        passed = {node_id_of(case): not case.findall("failure") and not case.findall("error") for case in cases}
        with open(reach, "rb") as file:
            return passed, used_of(read_reach(file))


def used_of(file: ReachFile) -> dict[str, UsedCode]:
    """By node id: what a test used, by a file of reach."""
    found = {}
    for test, own in file.tests.items():
        imports = file.imports.get(test.partition("::")[0], frozenset())
        found[test] = UsedCode(
            functions=frozenset(file.functions[place] for place in own.functions),
            files=frozenset(file.files[place] for place in own.files),
            modules=frozenset(file.files[place] for place in imports),
            outside=frozenset(file.functions[place] for place in file.outside),
            incomplete=own.incomplete,
        )
    return found


def _is_no(change: Change, used: UsedCode | None) -> bool:
    return touches(change, used).answer is Answer.NO
