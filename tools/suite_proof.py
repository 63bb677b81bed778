"""Proof that the suite does not flake: all of it in random orders, under load, in another zone, on another PostgreSQL.

python tools/suite_proof.py [--only tests/web ...] [--runs files loaded ...] [--seed 1] [--jobs 3]

Prints a table with a line a run, each test that failed, and the slowest tests. Exits with 1 unless all is green. Nine
runs of the whole suite take more than an hour; `--only` tries it on a folder, `--runs` on some of the runs."""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SLOWEST = 20
ZONE = "Pacific/Apia"
"""Thirteen or fourteen hours ahead: its date is tomorrow's for most of the day."""
LOCALES = ("de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "en_US.UTF-8", "C")
"""The first of these that the system has."""
_SPINNER = "while True: pass"


@dataclass(frozen=True)
class Run:
    """One run of the suite: its name, and what is different about it."""

    name: str
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    loaded: bool = False
    system_postgres: bool = False
    seed: int | None = None


@dataclass(frozen=True)
class Result:
    run: Run
    passed: int
    failures: tuple[str, ...]
    seconds: float
    processor_seconds: float
    durations: dict[str, float]
    exit_code: int

    @property
    def green(self) -> bool:
        return self.exit_code == 0 and not self.failures and self.passed > 0


def planned(seed: int) -> list[Run]:
    orders = [
        Run(f"{what} {number + 1}", ("--shuffle", what, "--seed", str(seed + number)), seed=seed + number)
        for what in ("files", "tests")
        for number in range(3)
    ]
    elsewhere = {"TZ": ZONE, "LC_ALL": other_locale(), "LANG": other_locale()}
    return [
        *orders,
        Run("loaded", loaded=True),
        Run("elsewhere", environment=elsewhere),
        Run("system", system_postgres=True),
    ]


def other_locale() -> str:
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    known = {name.lower().replace("-", "") for name in listed.split()}
    return next((name for name in LOCALES if name.lower().replace("-", "") in known), "C")


# -- what makes a run different ----------------------------------------------------------------------------------


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """As many processes as there are cores that do nothing but compute."""
    spinners = [subprocess.Popen([sys.executable, "-c", _SPINNER]) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def system_programs() -> Path | None:
    """The newest PostgreSQL that Debian installed, from version 15 on."""
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "postgres").exists()]
    new = [path for path in found if path.parent.name.isdecimal() and int(path.parent.name) >= 15]
    return max(new, key=lambda path: int(path.parent.name), default=None)


@contextmanager
def system_database(programs: Path, home: Path) -> Iterator[str]:
    """A server of its own out of the system's PostgreSQL, in a temporary folder; gives its DATABASE_URL.

    As root it runs as the user `postgres`, who must be able to enter the folder."""
    data, socket = home / "data", home / "socket"
    home.chmod(0o755)
    for folder in (data, socket):
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.geteuid() == 0 else []
    made = [*user, str(programs / "initdb"), "-D", str(data), "-U", "flakeboard", "-A", "trust", "-E", "UTF8"]
    subprocess.run([*made, "--locale=C.UTF-8"], check=True, stdout=subprocess.DEVNULL, cwd="/")
    settings = (
        "listen_addresses=",
        "max_connections=300",
        "fsync=off",
        "full_page_writes=off",
        "synchronous_commit=off",
    )
    options = [word for setting in settings for word in ("-c", setting)]
    command = [*user, str(programs / "postgres"), "-D", str(data), "-k", str(socket), *options]
    with (home / "postgres.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
    try:
        _wait_for(programs, socket)
        yield f"postgresql://flakeboard@{str(socket).replace('/', '%2F')}/postgres"
    finally:
        server.terminate()
        server.wait()


def _wait_for(programs: Path, socket: Path) -> None:
    ready = [str(programs / "pg_isready"), "-q", "-h", str(socket)]
    for _ in range(1_200):
        if subprocess.run(ready, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise SystemExit("The system's PostgreSQL did not start.")


# -- running it --------------------------------------------------------------------------------------------------


def execute(run: Run, only: list[str], jobs: int) -> Result | None:
    """None where what the run needs is not here; a sentence says so."""
    with tempfile.TemporaryDirectory(prefix="flakeboard-proof-") as name:
        folder = Path(name)
        if run.loaded:
            with busy_cores(os.cpu_count() or 2):
                return _pytest(run, only, jobs, folder, {})
        if run.system_postgres:
            programs = system_programs()
            if programs is None:
                say(f"{run.name}: skipped, as there is no PostgreSQL 15 or newer (Debian: apt-get install postgresql).")
                return None
            with system_database(programs, folder) as url:
                return _pytest(run, only, jobs, folder, {"DATABASE_URL": url})
        return _pytest(run, only, jobs, folder, {})


def _pytest(run: Run, only: list[str], jobs: int, folder: Path, environment: dict[str, str]) -> Result:
    report = folder / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-n", str(jobs), "--dist", "loadfile", f"--junitxml={report}"]
    began, used = time.monotonic(), _children_seconds()
    with (folder / "output").open("w+b") as output:
        done = subprocess.run(
            [*command, *run.options, *only],
            cwd=ROOT,
            env={**os.environ, **run.environment, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output.seek(0)
        text = output.read().decode(errors="replace")
    if not report.exists():
        say(text[-3_000:])
        return Result(run, 0, ("(no report was written)",), time.monotonic() - began, 0.0, {}, done.returncode)
    passed, failures, durations = read_report(report)
    seconds = time.monotonic() - began
    if failures:
        say(text[-20_000:])
    return Result(run, passed, failures, seconds, _children_seconds() - used, durations, done.returncode)


def _children_seconds() -> float:
    """Of all processes that were started here and have ended, and of theirs that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_report(path: Path) -> tuple[int, tuple[str, ...], dict[str, float]]:
    """How many passed, which failed, and how long each took."""
    passed, failures, durations = 0, [], {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):  # noqa: S314 - written by our own pytest
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '')}"
        kinds = {child.tag for child in case}
        durations[name] = durations.get(name, 0.0) + float(case.get("time") or 0)
        if kinds & {"failure", "error"}:
            failures.append(name)
        elif "skipped" not in kinds:
            passed += 1
    return passed, tuple(failures), durations


# -- what is said ------------------------------------------------------------------------------------------------


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def row(*cells: object) -> str:
    widths = (12, 6, 8, 8, 9, 11)
    return "  ".join(f"{cell!s:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def row_of(result: Result) -> str:
    seed = "" if result.run.seed is None else result.run.seed
    failed = len(result.failures) or (f"exit {result.exit_code}" if result.exit_code else 0)
    return row(result.run.name, seed, result.passed, failed, f"{result.seconds:.0f}", f"{result.processor_seconds:.0f}")


def slowest(results: list[Result]) -> Iterator[str]:
    """By the time that each took at best, so that a busy moment names nobody."""
    best: dict[str, float] = {}
    for result in results:
        for name, seconds in result.durations.items():
            best[name] = min(seconds, best.get(name, seconds))
    for name, seconds in sorted(best.items(), key=lambda entry: -entry[1])[:SLOWEST]:
        yield f"{seconds:8.1f} s  {name}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="PATH", help="these files or folders alone")
    parser.add_argument("--runs", nargs="+", default=[], metavar="NAME", help="runs whose name begins like this alone")
    parser.add_argument("--seed", type=int, default=1, help="the first seed; orders have three each")
    parser.add_argument("--jobs", type=int, default=3, help="processes that run tests at the same time")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    runs = [run for run in planned(options.seed) if not options.runs or run.name.startswith(tuple(options.runs))]
    if not runs:
        raise SystemExit(f"No run has such a name; there are: {', '.join(run.name for run in planned(options.seed))}.")
    results = []
    for run in runs:
        result = execute(run, options.only, options.jobs)
        if result is not None:
            results.append(result)
            say(f"{run.name}: {'green' if result.green else 'RED'} after {result.seconds:.0f} s")
    say("\n" + row("run", "seed", "passed", "failed", "seconds", "processor s"))
    for result in results:
        say(row_of(result))
    for result in results:
        for name in result.failures:
            say(f"  {result.run.name}: {re.sub(r'[^ -~]', '?', name)}")
    say(f"\nThe slowest {SLOWEST}, by the clock:")
    for line in slowest(results):
        say(line)
    return 0 if results and all(result.green for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
