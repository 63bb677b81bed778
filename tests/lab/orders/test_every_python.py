"""The same input and seed give the same output on every Python, whatever its hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.orders.conftest import CLIENT

SCRIPT = Path(__file__).with_name("every_python.py")
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def printed(python: str, hash_seed: str) -> str | None:
    """What the script prints under a Python; None where there is no such Python."""
    environ = {**os.environ, "PYTHONPATH": str(CLIENT), "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        subprocess.run([python, "-c", ""], env=environ, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return subprocess.run([python, str(SCRIPT)], env=environ, check=True, capture_output=True, text=True).stdout


def pythons(version: str) -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [f"python{version}", *(str(found) for found in sorted(root.glob(f"{version}.*/bin/python")))]


def test_hashes_of_strings_change_nothing() -> None:
    outputs = {printed(sys.executable, seed) for seed in ("0", "1", "2")}
    assert len(outputs) == 1 and None not in outputs


@pytest.mark.parametrize("version", VERSIONS)
def test_another_python_gives_the_same_answers(version: str) -> None:
    output = next((output for python in pythons(version) if (output := printed(python, "0"))), None)
    if output is None:
        pytest.skip(f"no Python {version} is here")
    assert output == printed(sys.executable, "0")
