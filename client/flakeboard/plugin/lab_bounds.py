"""Runs of one test for `flakeboard bounds`: each with the seeds of its number, its values a line of JSON."""

from __future__ import annotations

import json
from typing import Any, Iterator

import pytest

from flakeboard.plugin.values import NAME, ValueHooks
from flakeboard.values.seeds import SeedWatch
from flakeboard.values.sites import RunValues
from flakeboard.values.watch import ValueWatch


def start(config: Any, job: dict[str, Any]) -> None:
    """`job` has file, numbers and keep_seeds."""
    root = str(config.rootpath)
    seeds = SeedWatch(root, bool(job["keep_seeds"]))
    seeds.start()
    seeds.begin(job["numbers"][0] if job["numbers"] else 0)
    watch = ValueWatch(root)
    watch.start(config)
    runs = _Runs(job, seeds)
    config.pluginmanager.register(ValueHooks(watch, runs.keep), NAME)
    config.pluginmanager.register(runs, "flakeboard-bounds")


class _Runs:
    def __init__(self, job: dict[str, Any], seeds: SeedWatch) -> None:
        self._numbers = iter(job["numbers"])
        self._seeds = seeds
        self._file = open(job["file"], "a", encoding="utf-8")  # noqa: SIM115 - closed at the end of the session
        self._run: dict[str, Any] = {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        number = next(self._numbers, 0)
        self._seeds.begin(number)
        self._run = {"number": number, "test": item.nodeid, "outcome": "none", "sites": []}
        yield
        self._run["seeds"] = list(self._seeds.places)[:20]
        self._file.write(json.dumps(self._run) + "\n")
        self._file.flush()

    def keep(self, item: Any, run: RunValues) -> None:
        self._run["sites"] = [[*site, *value] for site, value in sorted(run.sites.items())]

    def pytest_runtest_logreport(self, report: Any) -> None:
        order = ("none", "passed", "skipped", "failed")
        if report.when == "call" or report.outcome != "passed":
            self._run["outcome"] = max(self._run["outcome"], report.outcome, key=order.index)

    def pytest_unconfigure(self) -> None:
        self._seeds.stop()
        self._file.close()
