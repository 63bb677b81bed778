"""Canaries: secrets in the environment, arguments, results, an exception, an address and a file are in no trace."""

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.outcome import Outcome
from bench.why.cost import environ

CANARY = "canary-81f0c2"
_TEST = f"""
import os, queue, random, socket, urllib.request
import pytest

def give(word, *, secret=None):
    return [word, secret]

@pytest.mark.parametrize("level", ["x"])
def test_it(level, tmp_path):
    os.environ["SHOP_TOKEN"]; os.getenv("SHOP_TOKEN")
    give("{CANARY}", secret={{"k": "{CANARY}"}})
    random.choice(["{CANARY}"]); random.sample(["{CANARY}"], 1)
    q = queue.Queue(); q.put("{CANARY}"); q.get()
    (tmp_path / "{CANARY}").write_text("{CANARY}"); (tmp_path / "{CANARY}").read_text()
    os.listdir(tmp_path)
    for address in (("u:{CANARY}@127.0.0.1", 1),):
        try:
            socket.create_connection(address, timeout=1)
        except OSError:
            pass
    try:
        urllib.request.urlopen("http://127.0.0.1:1/{CANARY}?key={CANARY}", timeout=1)
    except OSError:
        pass
    raise RuntimeError("{CANARY}")
"""


def run() -> Iterable[Outcome]:
    found = 0
    for level in ("sources", "functions", "calls"):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "test_it.py").write_text(_TEST)
            options = ["-p", "flakeboard.pytest_plugin", "--flakeboard-trace=all", f"--flakeboard-trace-level={level}"]
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
            given = {**environ(), "SHOP_TOKEN": CANARY}
            subprocess.run(command, cwd=folder, env=given, capture_output=True, check=False)
            content = (Path(folder) / "flakeboard-trace.jsonl").read_bytes()
            assert b"random.choice" in content
            found += content.count(CANARY.encode())
    yield Outcome("canaries in traces, 3 levels", found, most=0)
