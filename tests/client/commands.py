"""Starting the client as CI does: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.client.conftest import CLIENT
from tests.client.starter import start

SAMPLE = """
def test_good() -> None:
    pass

def test_bad() -> None:
    assert {bad}
"""
REPORT = (
    '<testsuites><testsuite name="pytest" tests="2"><testcase classname="test_sample" name="test_good" time="0.1"/>'
    '<testcase classname="test_sample" name="test_bad" time="0.1">{inside}</testcase></testsuite></testsuites>'
)
FAILED = REPORT.format(inside='<failure message="no">no</failure>')
GREEN = REPORT.format(inside="")


def environ_with(**more: Any) -> dict[str, str]:
    """What a process of ours gets of this environment; plugins of this Python would take longer to load than pytest."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    alone = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**kept, "PYTHONPATH": str(CLIENT), **alone, **more}


def flakeboard(
    *arguments: str, cwd: Path, environ: dict[str, str], timeout: int = 300
) -> subprocess.CompletedProcess[str]:
    """Run it; what it printed and its exit code."""
    return start("flakeboard", *arguments, cwd=cwd, environ=environ_with(**environ), timeout=timeout)


def python(code: str) -> list[str]:
    """A command that runs this code."""
    return [sys.executable, "-c", code]


def writes(path: str, content: str, code: int = 0) -> list[str]:
    """A command that writes a report and exits."""
    return python(f"import sys; open({str(path)!r}, 'w').write({content!r}); sys.exit({code})")
