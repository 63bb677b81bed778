"""Raw histories as timelines: one character a run and test. Imports nothing of the product."""

import csv
import gzip
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

PASS, FAIL, ERROR, SKIP, ABSENT = ".FEs-"
WINDOW = timedelta(days=90)


@dataclass(frozen=True)
class Run:
    label: str
    commit: str
    moment: datetime | None


@dataclass(frozen=True)
class History:
    """`timelines` by test: what it did in each run. `words` by test and place of the run: what its failure says."""

    name: str
    runs: list[Run]
    timelines: dict[str, str]
    words: dict[tuple[str, int], str]

    def last_days(self) -> "History":
        """The 90 days before the newest run, where runs have dates; tests that were not seen in them are left out."""
        moments = [run.moment for run in self.runs]
        if not moments or None in moments:
            return self
        since = max(filter(None, moments)) - WINDOW
        start = next(place for place, moment in enumerate(moments) if moment and moment > since)
        cut = {test: line[start:] for test, line in self.timelines.items()}
        seen = {test: line for test, line in cut.items() if line.strip(ABSENT)}
        words = {(test, place - start): text for (test, place), text in self.words.items() if place >= start}
        return History(self.name, self.runs[start:], seen, words)


def all_histories(data: Path) -> Iterator[History]:
    """The three archives of reports, then the matrices of reruns."""
    for path in archives(data):
        yield read_reports(path)
    for path in matrices(data):
        yield read_matrix(path)


def archives(data: Path) -> list[Path]:
    return sorted((data / "histories").glob("*.tar.*"))


def matrices(data: Path) -> list[Path]:
    return sorted((data / "reruns").glob("msr20_*-100.csv.gz"))


def name_of(path: Path) -> str:
    """junit_hector-100.tar.gz is hector; msr20_hector-100.csv.gz is msr20-hector."""
    return path.name.split(".")[0].removesuffix("-100").removeprefix("junit_").replace("_", "-")


def read_matrix(path: Path) -> History:
    """One revision, run a hundred times."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        timelines: dict[str, str] = dict(list(csv.reader(file))[1:])
    runs = [Run(f"run{number:03}", "", None) for number in range(1, len(next(iter(timelines.values()))) + 1)]
    return History(name_of(path), runs, timelines, {})


def read_reports(path: Path) -> History:
    """An archive of JUnit reports, with the commits and dates of its index.csv where there is one."""
    with tarfile.open(path) as archive:
        files = {Path(member.name).name: archive.extractfile(member) for member in archive if member.isfile()}
        contents = {name: file.read() for name, file in files.items() if file}
    index = list(csv.DictReader(io.StringIO(contents.get("index.csv", b"").decode())))
    known: list[tuple[str, str, datetime | None]]
    if index:
        dated = [(row["file"], row["commit"], datetime.fromisoformat(row["commit_date"])) for row in index]
        known = [*sorted(dated, key=lambda row: (row[2].astimezone(UTC), row[0]))]
    else:
        known = [(name, "", None) for name in sorted(contents) if name.endswith(".xml")]
    lines: dict[str, bytearray] = {}
    words: dict[tuple[str, int], str] = {}
    for place, (name, _, _) in enumerate(known):
        for test, outcome, text in _cases(contents[name]):
            lines.setdefault(test, bytearray(ABSENT.encode() * len(known)))[place] = ord(outcome)
            if outcome in (FAIL, ERROR):
                words[test, place] = text
    runs = [Run(Path(name).stem, commit, moment) for name, commit, moment in known]
    return History(name_of(path), runs, {test: line.decode() for test, line in lines.items()}, words)


def _cases(document: bytes) -> Iterator[tuple[str, str, str]]:
    """Test, outcome and what a failure says."""
    for case in ElementTree.fromstring(document).iter("testcase"):
        test, outcome, text = f"{case.get('classname')}.{case.get('name')}", PASS, ""
        for child in case:
            if child.tag in ("failure", "error"):
                outcome = FAIL if child.tag == "failure" else ERROR
                text = child.get("message") or child.text or ""
            elif child.tag == "skipped":
                outcome = SKIP
        yield test, outcome, text
