"""Virtual environments of the peers: made once and kept, so that none of them comes into this project's own."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("BENCH_PEERS", Path(sys.prefix) / "bench-peers"))
PLUGINS = (
    *("pytest==9.2.0", "detect-test-pollution==1.2.0", "pytest-randomly==4.1.0", "pytest-random-order==1.2.0"),
    *("pytest-flakefinder==1.1.0", "six==1.17.0"),
)
IPFLAKIES = ("ipflakies==1.1.1", "six==1.16.0")
"""It asks for an old pytest, so it lives alone."""


class Absent(Exception):
    """A peer that cannot be had here, with the reason."""


def python_with(name: str, packages: tuple[str, ...]) -> str:
    """The interpreter of an environment with these packages."""
    folder, python = FOLDER / name, FOLDER / name / "bin" / "python"
    mark = folder / "installed.txt"
    if not mark.exists() or mark.read_text().split() != list(packages):
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
        mark.write_text("\n".join(packages))
    return str(python)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
        raise Absent(lines[-1] if lines else f"{' '.join(command[:4])} ended with {done.returncode}")
