"""`flakeboard predict`: which new and changed tests look like tests that are flaky here. A guess, never evidence."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from typing import Any, Mapping, Sequence

from flakeboard import console, git, metadata
from flakeboard.console import plain
from flakeboard.detection.changed.changes import changes_since
from flakeboard.gate.github_summary import markdown
from flakeboard.options import add_connection, settings_of
from flakeboard.problems import NotConfigured, Problem
from flakeboard.server.api import Api
from flakeboard.sketches.changed import changed_tests, python_tests
from flakeboard.sketches.deliveries import as_sent, key_from
from flakeboard.sketches.reported import reported_tests
from flakeboard.sketches.sketch import FORM, key_id
from flakeboard.sketches.sources import Sketched, Sources

LIKELY = "likely flaky"
_BASES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_MOST_TESTS = 5_000
_COMMON = frozenset(
    ("def", "assert", "self", "return", "import", "from", "with", "for", "in", "is", "not", "none", "true", "false")
)
_SHOWN_WORDS, _SHOWN_NAMES = 5, 3


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("predict", help="which new tests look flaky", description=__doc__)
    parser.add_argument("reports", nargs="*", help="JUnit files that name the tests [Python tests of changed files]")
    parser.add_argument("--base", default="", metavar="REF", help="what the tests are new against [origin's default]")
    parser.add_argument("--json", action="store_true", help="print the server's answer")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a test is likely flaky")
    add_connection(parser)
    parser.set_defaults(command=predict)


def predict(options: argparse.Namespace) -> int:
    """The exit code: 0 whatever is predicted; 1 with --strict if a test is likely flaky."""
    try:
        settings = settings_of(options)
    except NotConfigured as problem:
        console.warn(f"nothing is predicted: {problem}")
        return 0
    changes, key = changes_since(options.base or _base()), key_from(settings.project)
    api, sources = Api(settings), Sources(changes.top, key)
    try:
        named = reported_tests(options.reports, api) if options.reports else python_tests(changes)
        tests = changed_tests(changes, sources, named)[:_MOST_TESTS]
        answer = _ask(api, key, tests)
    except Problem as problem:
        console.warn(f"nothing is predicted: {problem}")
        return 0
    results = answer.get("results") or []
    likely = [result for result in results if result.get("word") == LIKELY]
    if options.json:
        console.write(json.dumps(answer, indent=2))
    else:
        _show(lines(answer, {(test.classname, test.name): test for test in tests}, sources))
    return 1 if options.strict and likely else 0


def _base() -> str:
    found = next((name for name in _BASES if git.ask("rev-parse", "--verify", "-q", name + "^{commit}")), "")
    if not found:
        raise Problem("say with --base which branch the tests are new against.")
    return found


def _ask(api: Api, key: bytes, tests: Sequence[Sketched]) -> dict[str, Any]:
    facts = metadata.collect()
    origin = {name: str(facts.get(name) or "") for name in ("commit", "branch", "pull_request")}
    origin["commit"] = origin["commit"] or git.commit()
    body = {"form": FORM, "key_id": key_id(key), **origin, "tests": [as_sent(test) for test in tests]}
    return api.post("predictions", json.dumps(body).encode("utf-8"))


# -- what people read --------------------------------------------------------------------------------------------


def lines(answer: Mapping[str, Any], tests: Mapping[tuple[str, str], Sketched], sources: Sources) -> list[str]:
    """A sentence, then each likely flaky test with why, and what it has in common with its neighbours."""
    results = answer.get("results") or []
    likely = [result for result in results if result.get("word") == LIKELY]
    count = "{:,} new or changed test{}".format(len(results), "" if len(results) == 1 else "s")
    if not answer.get("speaks"):
        return [
            "{}; nothing is predicted: {}.".format(count, plain(answer.get("why") or "the server does not say why"))
        ]
    record = answer.get("record") or {}
    low, high = (f"{100 * float(record.get(end) or 0):.0f} %" for end in ("low", "high"))
    right = f"of {record.get('of')} such predictions {record.get('right')} were right, {low} to {high}"
    are = "none is" if not likely else "1 is" if len(likely) == 1 else f"{len(likely):,} are"
    head = [f"{count}; {are} likely flaky ({right})."]
    return head + [line for result in likely for line in _about(result, tests, sources)]


def _about(result: Mapping[str, Any], tests: Mapping[tuple[str, str], Sketched], sources: Sources) -> list[str]:
    test = tests.get((str(result.get("classname")), str(result.get("name"))))
    place = f"{test.path}::{test.name}" if test and test.path else f"{result.get('classname')}::{result.get('name')}"
    flaky = [near for near in result.get("neighbours") or [] if near.get("flaky")]
    beside = result.get("beside") or {}
    why = []
    if flaky:
        causes = ", ".join(["flaky", *(result.get("causes") or [])][:3])
        why.append("like {} ({})".format(", ".join(str(near.get("name")) for near in flaky[:_SHOWN_NAMES]), causes))
    if beside.get("of"):
        why.append(f"{beside.get('flaky')} of {beside.get('of')} tests of its class are flaky")
    shared = _shared(test, flaky, sources) if test else []
    runs = f"Run it {result.get('runs_advised')} times before you merge."
    common = f"in common: {plain(', '.join(shared), 200)}.   " if shared else ""
    return [f"  {plain(place, 300)}   {plain('; '.join(why), 500)}", f"      {common}{runs}"]


def _shared(test: Sketched, flaky: Sequence[Mapping[str, Any]], sources: Sources) -> list[str]:
    """Words that it shares with its flaky neighbours, read from the checkout: the server does not have them."""
    own = {word for word in test.words or () if word not in _COMMON and not word.startswith("test_")}
    counts: Counter[str] = Counter()
    for near in flaky:
        other = sources.sketched(str(near.get("classname")), str(near.get("name")), str(near.get("file") or ""))
        counts.update(own & set(other.words or ()))
    return [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_WORDS]]


def _show(shown: Sequence[str]) -> None:
    console.say(shown[0])
    for line in shown[1:]:
        console.write(line)
    path = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if path:
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write("### New tests\n\n" + "".join(f"{markdown(line.strip())}\n\n" for line in shown))
        except OSError:
            console.warn("the step summary cannot be written.")
