"""SIGKILL at random moments: a resumed experiment ends as if there had been none."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.detection.subjects import detected, environ, unpacked
from bench.outcome import Outcome

KILLS = int(os.environ.get("KILLS", "20"))


def run() -> Iterable[Outcome]:
    source = random.Random(4)
    with tempfile.TemporaryDirectory() as folder:
        project = unpacked("pythondi-913e6a60", Path(folder))
        expected, seconds = detected(project, "--seed", "kills", "--orders", "6")
        alike = sum(_told(_killed(project, source.uniform(0, seconds))) == _told(expected) for _ in range(KILLS))
    yield Outcome(f"of {KILLS} killed and resumed experiments, with the same end", alike, least=KILLS)


def _told(result: dict[str, Any]) -> Any:
    orders = [(order["round"], order["how"], order["digest"], order["failed"]) for order in result["orders"]]
    return result["ended"], result["tests"], result["found"], orders, result["pairs"]


def _killed(project: Path, after: float) -> dict[str, Any]:
    """The end of an experiment that was killed after so many seconds and resumed; it may have been at its end."""
    journals = project / ".flakeboard"
    before = set(journals.glob("*.jsonl"))
    out = project / "killed.json"
    own = [sys.executable, "-m", "flakeboard", "detect", "--no-upload", "--out", str(out)]
    command = ["--seed", "kills", "--orders", "6", "--without-failing", "--", sys.executable, "-m", "pytest", "-p"]
    quiet = {"cwd": project, "env": environ(), "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*own, *command, "no:cacheprovider"], **quiet)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (path,) = set(journals.glob("*.jsonl")) - before or {None}
    if path is None:  # before it had written a line
        return _killed(project, after + 1)
    key = json.loads(path.read_text().partition("\n")[0])["key"]
    subprocess.run([*own, "--resume", key], check=True, **quiet)
    return json.loads(out.read_text())
