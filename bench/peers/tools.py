"""The tools, each as its own documentation says to use it."""

import json
import re
import shlex
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.peers.environments import IPFLAKIES, PLUGINS, Absent, python_with
from bench.peers.workbench import Finding, Workbench

ROUNDS = 20
TRIES = 3
Tool = Callable[[Workbench], Finding]


def available() -> tuple[dict[str, Tool], dict[str, str]]:
    """The tools that can be had here, ours first; and why the others cannot."""
    python = python_with("plugins", PLUGINS)
    tools: dict[str, Tool] = {
        "detect": lambda bench: detect(bench, python),
        "detect-test-pollution": lambda bench: pollution(bench, python),
        "pytest-randomly": lambda bench: randomly(bench, python),
        "pytest-random-order": lambda bench: random_order(bench, python),
        "pytest-flakefinder": lambda bench: flakefinder(bench, python),
    }
    try:
        old = python_with("ipflakies", IPFLAKIES)
    except Absent as why:
        return tools, {"iPFlakies": str(why)}
    return {**tools, "iPFlakies": lambda bench: ipflakies(bench, old)}, {}


def failing(bench: Workbench, python: str) -> list[str]:
    """Tests that always fail in the original order on this machine: no tool is asked about them."""
    for _ in range(TRIES):
        bench.run([python, "-m", "pytest", "-q"])
    failures = Counter(test for _, test, failed in bench.observed() if failed)
    return [test for test, count in failures.items() if count == TRIES]


def detect(bench: Workbench, python: str) -> Finding:
    """Defaults: twenty orders, the first partner and a cleaner, everything verified."""
    out = bench.folder / "detected.json"
    options = ["detect", "--no-upload", "--without-failing", "--seed", "1", "--out", str(out)]
    bench.run([sys.executable, "-m", "flakeboard", *options, "--", python, "-m", "pytest"])
    found = json.loads(out.read_text())["found"] if out.exists() else []
    dependent = [each for each in found if each["kind"] == "OD"]
    return bench.finding({each["test"]: [group["tests"] for group in each["groups"]] for each in dependent})


def pollution(bench: Workbench, python: str) -> Finding:
    """Shuffles until a test fails, which ends it; then bisection for that test."""
    own = [str(Path(python).with_name("detect-test-pollution")), "--tests", "."]
    advice = re.search(r"try `(.*)`!", bench.run([*own, "--fuzz"]))
    if not advice:
        return bench.finding({})
    words = shlex.split(advice.group(1))
    test = words[words.index("--failing-test") + 1]
    named = re.search(r"the polluting test is: (.*)", bench.run([*own, "--failing-test", test]))
    return bench.finding({test: [[named.group(1)]] if named else []})


def randomly(bench: Workbench, python: str) -> Finding:
    return _seeds(bench, [python, "-m", "pytest", "-q", "-p", "pytest_randomly"], "--randomly-seed={}")


def random_order(bench: Workbench, python: str) -> Finding:
    return _seeds(bench, [python, "-m", "pytest", "-q", "-p", "random_order.plugin"], "--random-order-seed={}")


def _seeds(bench: Workbench, command: list[str], option: str) -> Finding:
    """These only run: what failed in some orders and not in others is for a person to look at."""
    for seed in range(1, ROUNDS + 1):
        bench.run([*command, option.format(seed)])
    return bench.finding({test: [] for test in _both_ways((test, bad) for _, test, bad in bench.observed())})


def flakefinder(bench: Workbench, python: str) -> Finding:
    bench.run([python, "-m", "pytest", "-q"])
    tests = [test for _, test, _ in bench.observed()]
    bench.run([python, "-m", "pytest", "-q", "-p", "pytest_flakefinder", "--flake-finder", f"--flake-runs={ROUNDS}"])
    copies = {copy: test for test in tests for copy in _copies(test)}
    ends = [(copies.get(test, test), bad) for _, test, bad in bench.observed()]
    return bench.finding({test: [] for test in _both_ways(ends)})


def _copies(test: str) -> Iterable[str]:
    """As the plugin names them: the number is one more parameter."""
    head, bracket, rest = test.partition("[")
    for number in range(ROUNDS):
        yield from (f"{head}[{number}-{rest}", f"{test[:-1]}-{number}]") if bracket else (f"{head}[{number}]",)


def _both_ways(ends: Iterable[tuple[str, bool]]) -> list[str]:
    seen: dict[str, set[bool]] = defaultdict(set)
    for test, bad in ends:
        seen[test].add(bad)
    return [test for test, both in seen.items() if len(both) == 2]


def ipflakies(bench: Workbench, python: str) -> Finding:
    """Random orders and reruns, then each pair for each test that it calls a victim or brittle."""
    own = [python, "-m", "ipflakies"]
    bench.run([*own, "-i", str(ROUNDS)], loads_plugins=True)
    path = bench.folder / "ipflakies_result" / "flakies.json"
    flakies = json.loads(path.read_text()) if path.exists() else {}
    flakies.pop("time", None)
    dependent = [test for test, each in flakies.items() if each["type"] in ("victim", "brittle")]
    found: dict[str, list[list[str]]] = {test: [] for test in dependent}
    for number, test in enumerate(dependent):
        if bench.is_cut:
            break
        folder = bench.folder.parent / f"minimized-{number}"  # its patches are tests, too
        shutil.copytree(bench.folder, folder)
        printed = bench.run([*own, "-t", test, "--max-polluter", "1"], folder, loads_plugins=True)
        found[test] = [[partner] for partner in _named(printed)]
    return bench.finding(found)


def _named(printed: str) -> list[str]:
    """Partners, also where the patches that it tries next end it."""
    rows = re.search(r"\d+ (?:polluter|state-setter)\(s\) for .* found:\n((?:\[\d+\]  .*\n)+)", printed)
    return re.findall(r"\]  (.*)\n", rows.group(1)) if rows else []
