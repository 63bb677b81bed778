"""pytest: node ids select tests and replace the paths of the command."""

from __future__ import annotations

import glob
import os
import re
from typing import Mapping, Sequence

from flakeboard.reports.case import Case
from flakeboard.runners.pytest_settings import given_options, value_of
from flakeboard.runners.runner import Runner, RunnerCall, distinct, without

SHARD = "--flakeboard-shard"
_WITH_VALUE = frozenset(
    [
        "-k",
        "-m",
        "-p",
        "-c",
        "-o",
        "-n",
        "-r",
        "-W",
        "--ignore",
        "--ignore-glob",
        "--deselect",
        "--rootdir",
        "--confcutdir",
        "--basetemp",
        "--junitxml",
        "--junit-xml",
        "--cov",
        "--cov-report",
        "--cov-config",
        "--maxfail",
        "--tb",
        "--durations",
        "--numprocesses",
        "--dist",
        "--timeout",
        "--log-file",
        "--override-ini",
        "--import-mode",
        "--ds",
        "--reruns",
        "--reruns-delay",
        "--flakeboard-report",
        "--flakeboard-order",
        "--flakeboard-select",
        SHARD,
        "--flakeboard-offline",
        "--flakeboard-trace",
        "--flakeboard-trace-level",
        "--flakeboard-trace-folder",
        "--flakeboard-recipe",
        "--config-file",
        "--pyargs",
        "--color",
        "--capture",
        "--html",
        "--splits",
        "--group",
        "--randomly-seed",
        "--maxprocesses",
        "--tx",
        "--verbosity",
        "--show-capture",
        "--log-level",
        "--log-cli-level",
    ]
)
_CHOOSING = ("--lf", "--last-failed", "--ff", "--failed-first", "--sw", "--stepwise", "-x", "--exitfirst")
_SCHEDULES = ("--flakeboard-order", "--flakeboard-select", SHARD)
_CHOOSING_WITH_VALUE = ("-k", "-m", "--deselect", "--maxfail", "--splits", "--group", *_SCHEDULES)


def _select(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    ids = [node_id(case) for case in cases]
    if not all(ids):
        return None
    return [*call.before, *arguments_for(call, distinct([node for node in ids if node]))]


def arguments_for(call: RunnerCall, ids: Sequence[str]) -> list[str]:
    """The command's own arguments, with these node ids in place of whatever it collects."""
    kept = without(_without_paths(call.arguments), _CHOOSING_WITH_VALUE)
    return [*[word for word in kept if word not in _CHOOSING], *ids]


def _without_paths(arguments: Sequence[str]) -> list[str]:
    """Arguments without the files, folders and node ids to collect."""
    kept, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word.startswith("-"):
            kept.append(word)
            if word in _WITH_VALUE and rest:
                kept.append(rest.pop(0))
        elif not os.path.exists(word.partition("::")[0]):
            kept.append(word)
    return kept


def node_id(case: Case) -> str | None:
    """A case as `tests/test_cart.py::TestCart::test_total[1]`; None if no file matches its class."""
    if case.file.endswith(".py") and os.path.isfile(case.file):
        module = re.sub(r"\.py\Z", "", case.file.replace(os.sep, "/")).replace("/", ".")
        if case.classname == module or case.classname.startswith(module + "."):
            return "::".join([case.file, *case.classname[len(module) + 1 :].split("."), case.name]).replace(
                "::::", "::"
            )
    return _by_class(case)


def _by_class(case: Case) -> str | None:
    """Take the longest prefix of the dotted class name that is a file; the rest are classes."""
    parts = case.classname.split(".")
    for end in range(len(parts), 0, -1):
        path = "/".join(parts[:end]) + ".py"
        if os.path.isfile(path):
            return "::".join([path, *parts[end:], case.name])
    return None


def report_paths(call: RunnerCall, environ: Mapping[str, str]) -> list[str]:
    """Where our plugin writes, else where pytest does, by the command, a variable or a settings file.

    The plugin writes one file, or one for each xdist worker."""
    given = given_options(call.arguments, environ)
    path = value_of(given, _PLUGIN)
    if path:
        return [path, "{}.gw*{}".format(*map(glob.escape, os.path.splitext(path)))]
    own = value_of(given, _JUNIT)
    return [own] if own else []


def shard_of(call: RunnerCall, environ: Mapping[str, str]) -> str:
    """The shard that our plugin is told to run; empty for a whole suite."""
    return value_of(given_options(call.arguments, environ), (SHARD,))


_PLUGIN = ("--flakeboard-report",)
_JUNIT = ("--junitxml", "--junit-xml")
PYTEST = Runner("pytest", ("pytest", "py.test"), _select, report_options=_JUNIT)
