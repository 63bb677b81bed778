"""All tools on all suites, as a table, and how `detect` stands beside the best of the others."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.outcome import Outcome
from bench.peers.environments import PLUGINS, Absent, python_with
from bench.peers.suites import KnownSuite, known_suites
from bench.peers.tools import Tool, available, failing
from bench.peers.workbench import Finding, Workbench

OURS = "detect"


@dataclass
class Score:
    """Sums over all suites."""

    found: int = 0
    right: int = 0
    """Found, with partners, all of them right."""
    named: int = 0
    """Found, with partners."""
    others: int = 0
    """Reported although they depend on no order."""
    runs: float = 0.0
    """Executions of tests, in runs of the whole suite."""
    seconds: float = 0.0
    processor: float = 0.0
    cut: int = 0

    def add(self, suite: KnownSuite, finding: Finding, tests: int) -> None:
        for test, groups in finding.partners.items():
            if test not in suite.dependent:
                self.others += 1
                continue
            self.found += 1
            self.named += bool(groups)
            self.right += bool(groups) and all(suite.is_partner(test, group) for group in groups)
        self.runs += finding.executions / tests
        self.seconds += finding.seconds
        self.processor += finding.processor
        self.cut += finding.is_cut


def run(subjects: int = 5, planted: int = 10) -> Iterable[Outcome]:
    try:
        tools, absent = available()
    except Absent as why:
        print(f"  peers cannot be installed here: {why}", flush=True)
        return
    for name, why in absent.items():
        print(f"  {name} cannot be installed here: {why}", flush=True)
    scores = {name: Score() for name in tools}
    dependent = 0
    for suite in known_suites(subjects, planted):
        dependent += len(suite.dependent)
        for name, finding, tests in _measured(suite, tools):
            scores[name].add(suite, finding, tests)
            print(f"  {suite.name}: {name} {_told(suite, finding)}", flush=True)
    _print_table(scores, dependent)
    yield from _judged(scores, dependent)


def _told(suite: KnownSuite, finding: Finding) -> str:
    own = Score()
    own.add(suite, finding, 1)
    cut = ", cut" if finding.is_cut else ""
    times = f"{finding.seconds:.0f} s, of processor {finding.processor:.0f} s"
    return f"found {own.found} of {len(suite.dependent)}, {own.right} with partners, {times}{cut}"


def _measured(suite: KnownSuite, tools: dict[str, Tool]) -> Iterable[tuple[str, Finding, int]]:
    with tempfile.TemporaryDirectory() as name:
        project = suite.write(Path(name))
        first = Workbench(project, Path(name) / "first")
        broken = [test for test in failing(first, python_with("plugins", PLUGINS)) if test not in suite.dependent]
        tests = len({test for _, test, _ in first.observed()} - set(broken))
        for tool, use in tools.items():
            yield tool, use(Workbench(project, Path(name) / tool, broken)), tests


def _print_table(scores: dict[str, Score], dependent: int) -> None:
    print(
        f"  {'':24}{'found':>8}{'named':>8}{'right':>8}{'others':>8}{'runs':>8}{'seconds':>10}{'of processor':>14}{'cut':>6}"
    )
    for name, each in scores.items():
        found = f"{each.found}/{dependent}"
        counts = f"{found:>8}{each.named:>8}{each.right:>8}{each.others:>8}"
        times = f"{each.seconds:>10.0f}{each.processor:>14.0f}"
        print(f"  {name:24}{counts}{each.runs:>8.0f}{times}{each.cut:>6}", flush=True)


def _judged(scores: dict[str, Score], dependent: int) -> Iterable[Outcome]:
    """The best of the others does the same work: it names most partners; of equals, it finds most and is fastest."""
    ours = scores[OURS]
    others = {name: each for name, each in scores.items() if name != OURS}
    best = max(others, key=lambda name: (others[name].right, others[name].found, -others[name].seconds))
    peer = others[best]
    most = max(each.found for each in others.values())
    yield Outcome(f"order-dependent tests found by detect, of {dependent}", ours.found, least=most)
    yield Outcome(f"of them by {best}, the best of the others", peer.found)
    yield Outcome(f"with partners by {best}, all right", peer.right)
    yield Outcome("share of those found by detect with partners, all right", ours.right / ours.found, least=1)
    yield Outcome("tests that detect reports and that depend on no order", ours.others, most=0)
    yield Outcome(f"seconds of detect, as a share of those of {best}", ours.seconds / peer.seconds, most=0.5)
    yield Outcome("the same of processor time, where others share the machine", ours.processor / peer.processor)
