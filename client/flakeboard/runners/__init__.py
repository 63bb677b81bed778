"""The test runner that a command starts, where it writes its reports, and how to rerun single tests with it."""

from __future__ import annotations

import os
import re
from typing import Mapping, Sequence

from flakeboard.runners import go, javascript, jvm, pytest, rspec
from flakeboard.runners.runner import Runner, RunnerCall

RUNNERS: tuple[Runner, ...] = (
    pytest.PYTEST,
    javascript.JEST,
    javascript.VITEST,
    javascript.PLAYWRIGHT,
    go.GOTESTSUM,
    go.GO,
    jvm.MAVEN,
    jvm.GRADLE,
    rspec.RSPEC,
)
_BUILDERS = {"make": "make", "gmake": "make", "tox": "tox", "nox": "nox", "bazel": "bazel", "bazelisk": "bazel"}
"""Build tools: they have exit codes of their own, and cannot select single tests."""
_BY_EXIT_CODE = {
    **_BUILDERS,
    "mocha": "mocha",
    "phpunit": "phpunit",
    "paratest": "phpunit",
    "nextest": "nextest",
    "ctest": "ctest",
    "robot": "robot",
    "dotnet": "dotnet",
    "ginkgo": "ginkgo",
    "behave": "behave",
    "cypress": "cypress",
    "cargo": "cargo",
    "mix": "mix",
    "xcodebuild": "xcodebuild",
}
"""Programs with known exit codes for failing tests: the gate must know whose exit code it is."""
NAMES = sorted({runner.name for runner in RUNNERS} | set(_BY_EXIT_CODE.values()) | {"other"})
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|js|mjs|py)\Z", re.IGNORECASE)
_KEEPS_GOING = frozenset({"--keep-going", "--ignore-errors"})


def find(command: Sequence[str]) -> RunnerCall | None:
    """The runner that the command starts, as in `npx jest` or `python -m pytest`; None if a script hides it."""
    for at, word in enumerate(command):
        name = _program(word)
        if name in _BUILDERS:
            return None
        following = command[at + 1] if at + 1 < len(command) else ""
        for runner in RUNNERS:
            if name in runner.words and (not runner.then or following == runner.then):
                return RunnerCall(runner, list(command), at + (2 if runner.then else 1))
    return None


def _program(word: str) -> str:
    return _SUFFIX.sub("", os.path.basename(word.replace("\\", "/")))


def name_of(command: Sequence[str]) -> str:
    """The runner's name at the gate: the one that the command starts, else the program that sets the exit code."""
    found = find(command)
    if found is not None:
        return found.runner.name
    programs = [_BY_EXIT_CODE[name] for name in map(_program, command) if name in _BY_EXIT_CODE]
    return "nextest" if "nextest" in programs else next(iter(programs), "")


def hidden_failures(command: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Failures other than tests that may go unnoticed: make that continues after errors."""
    if name_of(command) != "make":
        return []
    options = [word for word in command if re.match(r"-[a-zA-Z]*[ki]", word)]
    flags = environ.get("MAKEFLAGS", "").split(" ")[0]
    if options or _KEEPS_GOING & set(command) or re.match(r"[a-zA-Z]*[ki]", flags):
        return ["make continued after errors (-k or -i), so something other than tests may have failed."]
    return []
