"""pytest: tests are named by node ids, in place of the paths that the command named."""

from __future__ import annotations

import glob
import os
import re
from typing import Sequence

from flakeboard.junit import Case
from flakeboard.runners.runner import Found, Runner, distinct, options, without

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
_CHOOSING_WITH_VALUE = ("-k", "-m", "--deselect", "--maxfail", "--splits", "--group")


def _select(found: Found, cases: Sequence[Case]) -> list[str] | None:
    ids = [node_id(case) for case in cases]
    if not all(ids):
        return None
    kept = without(_without_paths(found.arguments), _CHOOSING_WITH_VALUE)
    kept = [word for word in kept if word not in _CHOOSING]
    return [*found.before, *kept, *distinct([one for one in ids if one])]


def _without_paths(arguments: Sequence[str]) -> list[str]:
    """Arguments without the files, folders and node ids that say what to collect."""
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
    """`tests/test_cart.py::TestCart::test_total[1]` of a case; None where no file fits its class."""
    if case.file.endswith(".py") and os.path.isfile(case.file):
        module = re.sub(r"\.py\Z", "", case.file.replace(os.sep, "/")).replace("/", ".")
        if case.classname == module or case.classname.startswith(module + "."):
            return "::".join([case.file, *case.classname[len(module) + 1 :].split("."), case.name]).replace(
                "::::", "::"
            )
    return _by_class(case)


def _by_class(case: Case) -> str | None:
    """The longest beginning of the dotted class name that is a file; what follows are classes."""
    parts = case.classname.split(".")
    for end in range(len(parts), 0, -1):
        path = "/".join(parts[:end]) + ".py"
        if os.path.isfile(path):
            return "::".join([path, *parts[end:], case.name])
    return None


def plugin_reports(found: Found) -> list[str]:
    """Where our own plugin writes, if the command asks it to: one file, or one of each worker of xdist."""
    named = [value for option, value in options(found.arguments, _PLUGIN) if option in _PLUGIN and value]
    return [place for path in named for place in (path, "{}.gw*{}".format(*map(glob.escape, os.path.splitext(path))))]


_PLUGIN = ("--flakeboard-report",)
PYTEST = Runner("pytest", ("pytest", "py.test"), _select, report_options=("--junitxml", "--junit-xml"))
