"""What the browser tests need besides Python packages: a Chromium, and axe-core from npm. `make test` runs this.

python -m tests.browser.provision
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CACHE = Path(sys.prefix) / "browser-tests"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_BROWSER = (
    "The browser tests need a Chromium and there is none. Install one (Debian, Ubuntu: apt-get install chromium), or name "
    "one in FLAKEBOARD_CHROMIUM, or let `make test` fetch Playwright's own (needs the network). "
    "FLAKEBOARD_NO_BROWSER=1 leaves the browser tests out."
)

AXE = "4.14.0"
AXE_DIGEST = "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
"""SHA-512 of the package as npm publishes it."""
NO_AXE = (
    f"The browser tests need axe-core {AXE} and it is not here. `make test` fetches it with npm: "
    "install npm (Debian, Ubuntu: apt-get install npm) and see that it reaches its registry."
)


class Missing(Exception):
    """Something that a person must install; the sentence says what."""


# -- the browser -------------------------------------------------------------------------------------------------


def chromium() -> Path | None:
    """The one that is named, else one on the PATH, else Playwright's own, else none."""
    named = os.environ.get("FLAKEBOARD_CHROMIUM")
    if named:
        return Path(named) if Path(named).is_file() else None
    on_path = next(filter(None, map(shutil.which, NAMES)), None)
    return Path(on_path) if on_path else _own_chromium()


def _own_chromium() -> Path | None:
    """Asked in a process of its own: Playwright's loop must not stay behind in this one."""
    ask = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False).stdout.strip()
    return Path(answer) if answer and Path(answer).is_file() else None


def chromium_install() -> None:
    """Debian's where we may install it, as in a container; else Playwright's own."""
    if chromium() or os.environ.get("FLAKEBOARD_CHROMIUM"):
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium for the browser tests …", flush=True)
        quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], check=False, **quiet)
    if not chromium():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


# -- axe-core ----------------------------------------------------------------------------------------------------


def axe() -> Path:
    return CACHE / f"axe-core-{AXE}.min.js"


def axe_fetch() -> None:
    """Through whatever registry npm is set up with, checked against the digest above."""
    if axe().is_file() or not shutil.which("npm"):
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", f"axe-core@{AXE}"], cwd=folder, check=False, stdout=subprocess.DEVNULL
        )
        packed = next(Path(folder).glob("*.tgz"), None)
        if packed:
            _unpack(packed)


def _unpack(packed: Path) -> None:
    digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if digest != AXE_DIGEST:
        raise Missing(f"npm delivered another axe-core {AXE} than the one that is published: SHA-512 {digest}.")
    with tarfile.open(packed) as package:
        script = package.extractfile("package/axe.min.js")
        assert script is not None
        CACHE.mkdir(exist_ok=True)
        axe().write_bytes(script.read())


def provision() -> list[str]:
    """Fetch what is missing; a sentence for each thing that could not be had."""
    chromium_install()
    axe_fetch()
    return [sentence for there, sentence in ((chromium(), NO_BROWSER), (axe().is_file(), NO_AXE)) if not there]


if __name__ == "__main__" and os.environ.get("FLAKEBOARD_NO_BROWSER") != "1":
    for sentence in provision():
        print(sentence, file=sys.stderr)
