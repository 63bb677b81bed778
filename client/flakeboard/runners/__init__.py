"""Which test runner a command starts, where it writes its report, and how it is told to run single tests again."""

from __future__ import annotations

import os
import re
from typing import Sequence

from flakeboard.runners import go, javascript, jvm, pytest, rspec
from flakeboard.runners.runner import Found, Runner

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
NAMES = sorted({runner.name for runner in RUNNERS} | {"other"})
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|js|mjs|py)\Z", re.IGNORECASE)


def find(command: Sequence[str]) -> Found | None:
    """The runner that the command starts, as `npx jest` or `python -m pytest` do; None if it is hidden in a script."""
    for at, word in enumerate(command):
        name = _SUFFIX.sub("", os.path.basename(word.replace("\\", "/")))
        following = command[at + 1] if at + 1 < len(command) else ""
        for runner in RUNNERS:
            if name in runner.words and (not runner.then or following == runner.then):
                return Found(runner, list(command), at + (2 if runner.then else 1))
    return None
