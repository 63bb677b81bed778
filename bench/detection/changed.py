"""New tests among 500: a victim, a brittle test, a polluter and one that fails at random; and nothing to do."""

import csv
import statistics
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.detection.subjects import called, detected
from bench.outcome import Outcome
from tests.lab.detect.worlds import World, suite, write_project
from tests.paths import DATA

OUTLIER = "https://github.com/wildfly/wildfly"
"""Of the later ones it has 23 of 61, which the study leaves out of the medians."""
OLD = "test_00.py::test_03"
"""It comes before the new ones, so that the original order passes."""
NEW = [f"test_00_new.py::test_{name}" for name in ("victim", "brittle", "polluter", "random")]


def run() -> Iterable[Outcome]:
    yield from _published()
    tests = suite(25, 20)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        write_project(World(tests), folder)
        (folder / ".gitignore").write_text("__pycache__\n.flakeboard\n*.json\n!world.json\n")
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"]):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)
        printed, seconds = called(folder, "--changed-since", "main")
        yield Outcome("without changed tests it says that there is nothing to do", "nothing to do" in printed, least=1)
        yield Outcome("and ends after", seconds, "s", most=5)
        world = World(tests + NEW, brittles={NEW[1]: [tests[7]]}, rates={NEW[3]: 0.2})
        write_project(world.victim(NEW[0], tests[77]).victim(OLD, NEW[2]), folder)
        result, seconds = detected(folder, "--changed-since", "main", "--budget", "4.5", "--seed", "1")
    kinds = {each["test"]: (each["kind"], each["role"]) for each in result["found"]}
    expected = {
        NEW[0]: ("OD", "victim"),
        NEW[1]: ("OD", "brittle"),
        OLD: ("OD", "victim"),
        NEW[3]: ("NOD", None),
    }
    yield Outcome(
        "what four new tests brought, found of 4", sum(kinds.get(t) == k for t, k in expected.items()), least=4
    )
    yield Outcome("other tests reported", len(kinds.keys() - expected.keys()), most=0)
    yield Outcome("with a budget of 4.5 minutes", seconds / 60, "min", most=5)


def _published() -> Iterable[Outcome]:
    """Figures of part D out of the study's own data."""
    with open(DATA / "idoft" / "tic-fic-data.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    at_once = [row for row in rows if row["TIC = FIC"] == "TRUE"]
    later = [row for row in rows if row["TIC = FIC"] == "FALSE"]
    own = [row for row in later if row["Flaky Test File Modified"] == "TRUE"]
    commits = [float(row["Commits Between TIC-FIC"]) for row in later if row["Commits Between TIC-FIC"]]
    yield Outcome("flaky at the commit that introduces the test, of 245", len(at_once), least=184, most=184)
    yield Outcome("later ones", len(later), least=61, most=61)
    yield Outcome("of them where the test's class changes", len(own), least=24, most=24)
    yield Outcome("median of commits between", statistics.median(commits), least=554, most=554)
    yield Outcome("mean of commits between", round(statistics.fmean(commits)), least=7_089, most=7_089)
    others = [row for row in later if row["Project URL"] != OUTLIER]
    commits, days = ([float(row[f"{unit} Between TIC-FIC"]) for row in others] for unit in ("Commits", "Days"))
    yield Outcome("median without the outlier", statistics.median(commits), "commits", least=144, most=144)
    yield Outcome("median without the outlier", round(statistics.median(days)), "days", least=154, most=154)
