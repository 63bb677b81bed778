"""Break a module in one place at a time and see whether its tests notice: `make mutants`, `make mutants ARGS=states`.

mutmut and cosmic-ray start a test run with its database and imports for each mutant, and rewrite files in place. Here
one PostgreSQL stays up, slow imports happen once, and each mutant is a forked process that loads the changed module
from memory. `mutations` defines the mutants, `trials` tests one of them."""

import argparse
import importlib
import os
import pickle
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mutations import Mutant, mutants
from trials import ROOT, Applied, change_imported, exit_code, file_of, import_changed


@dataclass(frozen=True)
class Target:
    modules: tuple[str, ...]
    pure: tuple[str, ...] = ()
    """Tests that need neither Django nor a database, which run first."""
    tests: tuple[str, ...] = ()
    """Tests that need Django, those without a database first."""
    without: str = ""
    """Tests that are too slow to run for each mutant, as an expression for pytest's -k."""


_QUARANTINE, _JUNIT = "tests/quarantine/test_", "tests/ingest/junit/test_"
_TAILS = ("answers", "bounds", "box_cox", "failures", "fits", "pareto", "proposals", "recency", "samples")
_LIKENESS = ("backtest", "earlier", "labels", "levels", "neighbours", "score")
_GATE = tuple(f"{_QUARANTINE}{name}.py" for name in ("gate_api", "gate_law"))
TARGETS = {
    "gate": Target(("dashboard.quarantine.gate.decision",), (f"{_QUARANTINE}gate.py",)),
    "service": Target(("dashboard.quarantine.gate.service",), (), (f"{_QUARANTINE}gate_service.py", *_GATE)),
    "excuses": Target(("dashboard.quarantine.gate.excuses",), (), (f"{_QUARANTINE}excuses.py", *_GATE)),
    "states": Target(("dashboard.quarantine.states",), (f"{_QUARANTINE}states.py",)),
    "policy": Target(("dashboard.quarantine.policy.plan",), (f"{_QUARANTINE}policy.py",)),
    "access": Target(("dashboard.access",), (), ("tests/people/test_access.py",)),
    "redaction": Target(
        ("ingest.redaction_rules", "ingest.redaction"),
        ("tests/ingest/test_redaction.py",),
        without="not slow and not real",
    ),
    "tails": Target(
        tuple(f"analytics.kernel.tails.{name}" for name in _TAILS),
        tuple(f"tests/analytics/tails/test_{name}.py" for name in ("pareto", "fitted_tails", "bounds")),
        without="not any_floats",
    ),
    "likeness": Target(
        tuple(f"analytics.kernel.likeness.{name}" for name in _LIKENESS), ("tests/likeness/test_likeness.py",)
    ),
    "sketches": Target(
        tuple(f"flakeboard.sketches.{name}" for name in ("sketch", "functions", "languages", "names")),
        ("tests/likeness/test_sketching.py",),
    ),
    "bounds": Target(
        tuple(f"flakeboard.bounds.{name}" for name in ("patches", "series", "variance", "answer")),
        ("tests/client/values/test_bounds.py",),
    ),
    "attempts": Target(("ingest.junit.attempts",), tuple(f"{_JUNIT}{name}.py" for name in ("attempts", "dialects"))),
    "dialects": Target(("ingest.junit.dialects",), tuple(f"{_JUNIT}{name}.py" for name in ("dialects", "attempts"))),
}
"""The modules that `make mutants` breaks, and the tests that must notice."""

PURE = ("--noconftest", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", "-o", "addopts=", "-W", "ignore")
DATABASE = ("-n0", "--reuse-db", "--no-header", "-W", "ignore::pytest.PytestAssertRewriteWarning")
SLOW_TO_IMPORT = (
    "numpy", "scipy.stats", "scipy.special", "celery", "psycopg2", "lxml.etree", "requests", "hypothesis",
    "_hypothesis_pytestplugin", "hypothesis.strategies", "hypothesis.internal.conjecture.engine",
)  # fmt: skip
SAMPLE, SEED, FLOOR, SECONDS = 60, 11, 0.9, 3_600
NOT_OURS = frozenset({3, 4, 98})
"""Exit codes for an error of pytest or of this program, not of a mutant."""


# -- all of a module ---------------------------------------------------------------------------------------------


def survivors(chosen: Sequence[Mutant], apply: Applied, arguments: Sequence[str], until: float) -> list[Mutant]:
    """The mutants that no test notices. Without a mutant all tests must pass under the same conditions."""
    anew = ["--create-db"] if "--reuse-db" in arguments else []
    sound = [Mutant(module, 0, "as it is", file_of(module).read_text()) for module in _modules(chosen)]
    for mutant in sound:
        if (anew and exit_code(apply, mutant, [*arguments, *anew])) or exit_code(apply, mutant, arguments):
            raise SystemExit(f"{mutant.module}: its tests fail without a mutant; see {os.environ['MUTANT_LOG']}")
    left: list[Mutant] = []
    options: list[str] = []
    for mutant in chosen:
        if time.monotonic() > until:
            raise SystemExit("There was not enough time: give it more with --seconds, or a smaller --sample.")
        code = exit_code(apply, mutant, [*arguments, *options])
        if code in NOT_OURS:
            raise SystemExit(f"{mutant.module}:{mutant.line} {mutant.what}: see {os.environ['MUTANT_LOG']}")
        options = anew if code < 0 else []  # it was ended in the middle
        if code == 0:
            left.append(mutant)
    return left


def _modules(chosen: Sequence[Mutant]) -> list[str]:
    return list(dict.fromkeys(mutant.module for mutant in chosen))


def in_room(work: Callable[[], list[Mutant]]) -> list[Mutant]:
    """Run `work` in a separate process, so that its imports are forgotten afterwards."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            result = pickle.dumps(work())
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(result)
            code = 0
        except SystemExit as refused:
            say(str(refused))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result = pipe.read()
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit(2)
    return pickle.loads(result)  # noqa: S301 - from a child of ours


def by_pure_tests(target: Target, chosen: Sequence[Mutant], until: float) -> list[Mutant]:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    _be_steady()
    left = list(chosen)
    for file in target.pure:  # one after the other: few mutants get past the first
        left = survivors(left, import_changed, [*PURE, *_unless_slow(target), file], until) if left else left
    return left


def by_tests_of_django(target: Target, chosen: Sequence[Mutant], until: float) -> list[Mutant]:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.settings"
    django.setup()
    for module in ("dashboard.urls", "ingest.processing", *target.modules):
        importlib.import_module(module)
    return survivors(chosen, change_imported, [*DATABASE, *_unless_slow(target), *target.tests], until)


def _unless_slow(target: Target) -> list[str]:
    return ["-k", target.without] if target.without else []


def _be_steady() -> None:
    """Use the same examples for each mutant, and do not fail on a busy machine."""
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "mutants", deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    settings.load_profile("mutants")


def measure(name: str, *, size: int, seeds: Sequence[int], until: float) -> float:
    """The least share of mutants noticed over the seeds' samples; prints all of them."""
    target = TARGETS[name]
    every = [mutant for module in target.modules for mutant in mutants(module, file_of(module).read_text())]
    samples = {seed: random.Random(seed).sample(every, min(size, len(every))) for seed in seeds}  # noqa: S311
    left = chosen = list(dict.fromkeys(mutant for sample in samples.values() for mutant in sample))
    if target.pure:
        left = in_room(lambda: by_pure_tests(target, chosen, until))
    if target.tests and left:
        rest = left
        left = in_room(lambda: by_tests_of_django(target, rest, until))
    shares = []
    for seed, sample in samples.items():
        noticed = sum(mutant not in left for mutant in sample)
        shares.append(noticed / len(sample))
        counted = f"{noticed} of {len(sample)} noticed ({shares[-1]:.0%})"
        say(f"{name}: {counted} by seed {seed}, of {len(every)} there are")
    for mutant in sorted(left, key=lambda mutant: (mutant.module, mutant.line)):
        say(f"  survived: {mutant.module}:{mutant.line} {mutant.what}")
    return min(shares)


def say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TARGETS)}; all without any")
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, nargs="+", default=[SEED], help="with several, a sample each")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all of them together")
    options = parser.parse_args()
    names = options.names or list(TARGETS)
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    until = time.monotonic() + options.seconds
    for module in SLOW_TO_IMPORT:
        with suppress(ImportError):
            importlib.import_module(module)
    with tempfile.TemporaryDirectory(prefix="flakeboard-mutants-") as folder:
        os.environ["MUTANT_LOG"] = str(Path(tempfile.gettempdir()) / f"flakeboard-mutants-{os.getpid()}.log")
        os.environ["TMPDIR"] = tempfile.tempdir = folder  # what an ended process leaves behind goes with it
        stop = _database(Path(folder)) if any(TARGETS[name].tests for name in names) else (lambda: None)
        try:
            limits = {"size": options.sample, "seeds": options.seed, "until": until}
            below = [name for name in names if measure(name, **limits) < FLOOR]
        finally:
            stop()
    raise SystemExit(f"Below {FLOOR:.0%}: {', '.join(below)}" if below else 0)


def _database(home: Path) -> Callable[[], None]:
    """Start a database for all mutants, from a separate process; returns how to stop it."""
    ready, stop = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        from dashboard.ops.embedded import Cluster

        cluster = Cluster(home / "database", options=("-c", "fsync=off", "-c", "synchronous_commit=off"))
        cluster.start()
        os.write(ready[1], str(cluster.socket).encode())
        os.close(ready[1])
        os.close(stop[1])
        os.read(stop[0], 1)  # until the parent closes it, or ends
        cluster.stop()
        os._exit(0)
    os.close(ready[1])
    socket = os.read(ready[0], 4_096).decode()
    os.environ["DATABASE_URL"] = f"postgres://flakeboard@{quote(socket, safe='')}/flakeboard"
    os.environ["FLAKEBOARD_HOME"] = str(home / "flakeboard")

    def end() -> None:
        os.close(stop[1])
        os.waitpid(child, 0)

    return end


if __name__ == "__main__":
    main()
