"""What the client's tests need besides Python: Go, gotestsum, Maven, RSpec, Jest and others of its kind, and pytest, the newest
and the oldest, on the oldest Python that the client supports. `make test` runs this.

python -m tests.client.provision
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

JEST = ("jest@30.5.2", "jest-junit@17.0.0", "mocha@11.8.0", "mocha-junit-reporter@2.2.1")
REPORTED = ("vitest@3.2.7", "@playwright/test@1.65.1")
"""Runners besides for which we have reporters; no browser is fetched."""
NODE_RUNNERS = ("jest", "mocha", "vitest", "playwright")
NODE = Path(sys.prefix) / "client-tests"
"""Where npm puts what it fetches: beside the Python packages, for every checkout that shares them."""
OLDEST = (3, 8)
OLDEST_ENVIRONMENT = Path(sys.prefix) / "oldest-python"
OLDEST_PYTEST = ("pytest==7.0.0", "pytest-xdist==2.5.0", "numpy")
OLDEST_PYTEST_ENVIRONMENT = Path(sys.prefix) / "oldest-pytest"
PLUGINS = ("pytest-xdist", "pytest-randomly", "pytest-rerunfailures", "pytest-order", "pytest-random-order")
PLUGIN_ENVIRONMENT = Path(sys.prefix) / "pytest-plugins"
"""pytest with plugins that reorder, repeat and spread tests, which this project's own tests must not have."""
_MAVEN_REPOSITORY = Path("/usr/share/maven-repo")
PACKAGES = {
    "go": ("golang-go", "gotestsum"),
    "maven": ("maven", "maven-debian-helper", "default-jdk-headless", "junit5", "libsurefire-java"),
    "rspec": ("ruby-rspec", "ruby-rspec-junit-formatter"),
}
"""Runner -> the Debian packages that bring it."""


def node_program(name: str) -> Path | None:
    found = NODE / "node_modules" / ".bin" / name
    return found if found.exists() and shutil.which("node") else None


def is_here(runner: str) -> bool:
    if runner in NODE_RUNNERS:
        return node_program(runner) is not None
    if runner == "maven":
        surefire = _MAVEN_REPOSITORY / "org/apache/maven/surefire/surefire-junit-platform"
        return bool(shutil.which("mvn") and shutil.which("javac")) and surefire.is_dir()
    if runner == "go":
        return bool(shutil.which("go") and shutil.which("gotestsum"))
    return bool(shutil.which("rspec")) and any(
        Path("/usr/share/rubygems-integration").glob("*/specifications/rspec_junit*")
    )


def oldest_python() -> str:
    """The interpreter, from PATH or from pyenv, that runs (pyenv's shims may have none behind them); or nothing."""
    kept = sorted(Path.home().glob(".pyenv/versions/{}.{}*/bin/python".format(*OLDEST)))
    named = shutil.which("python{}.{}".format(*OLDEST))
    return next((found for found in (named, *map(str, kept)) if found and _runs(found, "")), "")


def oldest_python_with_pytest() -> str:
    """The same with pytest and nothing else; or nothing."""
    made = OLDEST_ENVIRONMENT / "bin" / "python"
    return next((found for found in (str(made), oldest_python()) if found and _runs(found, "import pytest")), "")


def oldest_pytest() -> str:
    """The oldest Python with the oldest pytest that the plugin supports, xdist of its time and numpy; or nothing."""
    made = OLDEST_PYTEST_ENVIRONMENT / "bin" / "python"
    return str(made) if made.exists() and _runs(str(made), "import pytest, xdist, numpy") else ""


def _runs(python: str, code: str) -> bool:
    try:
        return subprocess.run([python, "-c", code], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def _oldest_python_install() -> None:
    found = oldest_python()
    if found and not oldest_python_with_pytest():
        _environment_make(found, OLDEST_ENVIRONMENT, ("pytest", "pytest-xdist"))
    if found and not oldest_pytest():
        _environment_make(found, OLDEST_PYTEST_ENVIRONMENT, OLDEST_PYTEST)


def _environment_make(python: str, folder: Path, packages: tuple[str, ...]) -> None:
    quiet = {"check": False, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], **quiet)
    made = folder / "bin" / "python"
    if made.exists():
        subprocess.run([str(made), "-m", "pip", "install", "-q", *packages], **quiet)


def python_with_plugins() -> str:
    """An interpreter with all these plugins; or nothing."""
    modules = ", ".join(name.replace("-", "_").replace("pytest_xdist", "xdist") for name in PLUGINS)
    modules = modules.replace("pytest_random_order", "random_order")
    made = PLUGIN_ENVIRONMENT / "bin" / "python"
    return str(made) if made.exists() and _runs(str(made), f"import {modules}") else ""


def _plugins_install() -> None:
    if not python_with_plugins():
        _environment_make(sys.executable, PLUGIN_ENVIRONMENT, ("pytest", *PLUGINS))


def maven_options() -> list[str]:
    """Offline, out of Debian's repository."""
    return ["-B", "-o", "-q", "-s", "/etc/maven/settings-debian.xml", f"-Dmaven.repo.local={_MAVEN_REPOSITORY}"]


def _debian_install(packages: list[str]) -> None:
    """Debian's where we may install it, as in a container."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print("Installing test runners for the client's tests …", flush=True)
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], check=False, **quiet)


def _node_install() -> None:
    if not shutil.which("npm"):
        return
    NODE.mkdir(exist_ok=True)
    (NODE / "package.json").write_text('{"private": true}\n')
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock", *JEST, *REPORTED]
    environ = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    subprocess.run(command, cwd=str(NODE), env=environ, check=False, stdout=subprocess.DEVNULL)


def provision() -> list[str]:
    """Fetch what is missing; a sentence for each runner that could not be had."""
    wanted = [package for runner, packages in PACKAGES.items() if not is_here(runner) for package in packages]
    if wanted:
        _debian_install(wanted)
    if not all(map(is_here, NODE_RUNNERS)):
        _node_install()
    _oldest_python_install()
    _plugins_install()
    return [missing(runner) for runner in (*PACKAGES, *NODE_RUNNERS) if not is_here(runner)]


def missing(runner: str) -> str:
    how = (
        f"apt-get install {' '.join(PACKAGES[runner])}"
        if runner in PACKAGES
        else f"npm install {' '.join((*JEST, *REPORTED))} in {NODE}"
    )
    return f"The tests with {runner} need it and it is not here: {how}, as `make test` does where it may."


if __name__ == "__main__":
    for sentence in provision():
        print(sentence, file=sys.stderr)
