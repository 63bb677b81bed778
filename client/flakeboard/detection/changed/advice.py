"""How often to run new tests, where the server predicts: more often those that look like flaky ones."""

from __future__ import annotations

import json
from typing import Callable, Sequence

from flakeboard import git, metadata
from flakeboard.node_names import file_of, names_of
from flakeboard.problems import Problem
from flakeboard.server.api import Api
from flakeboard.sketches.deliveries import as_sent, key_from
from flakeboard.sketches.sketch import FORM, key_id
from flakeboard.sketches.sources import Sources

_MOST_TESTS = 5_000
_MOST_RUNS = 1_000


def runs_advised(api: Api, rootdir: str, tests: Sequence[str], say: Callable[[str], None]) -> dict[str, int]:
    """By node id, of those that the server says something of; nothing where it does not answer."""
    questions = list(tests)[:_MOST_TESTS]
    if not questions:
        return {}
    try:
        key = key_from(api.settings.project)
        sources, facts = Sources(rootdir, key), metadata.collect()
        origin = {name: str(facts.get(name) or "") for name in ("commit", "branch", "pull_request")}
        origin["commit"] = origin["commit"] or git.commit()
        rows = [as_sent(sources.sketched(*names_of(test), file_of(test))) for test in questions]
        body = {"form": FORM, "key_id": key_id(key), **origin, "tests": rows}
        results = api.post("predictions", json.dumps(body).encode("utf-8")).get("results") or []
    except Problem as problem:
        say(f"no prediction of new tests: {problem}")
        return {}
    advised = {test: result.get("runs_advised") for test, result in zip(questions, results) if result.get("word")}
    return {test: min(runs, _MOST_RUNS) for test, runs in advised.items() if isinstance(runs, int) and runs > 0}
