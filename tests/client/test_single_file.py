"""The single file: works with nothing but Python, on old ones too, and is served to anybody."""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
import venv
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import pytest

from tests.client.commands import GREEN, environ_with
from tests.client.conftest import CLIENT
from tests.client.misbehaving import ACCEPTED, PASSED, TOKEN, Misbehaving

SOURCES = sorted((CLIENT / "flakeboard").rglob("*.py"))


@lru_cache(maxsize=1_000)
def tree_of(path: Path) -> ast.Module:
    """A module as the oldest Python reads it."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 8))


def test_the_oldest_python_reads_every_module() -> None:
    """And evaluates no annotations, which may be of newer ones."""
    evaluated = []
    for path in SOURCES:
        tree = tree_of(path)
        futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        annotated = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.args]
        if annotated and not futures:
            evaluated.append(path.relative_to(CLIENT).as_posix())
    assert evaluated == [] and len(SOURCES) > 200


def test_only_the_standard_library_is_imported() -> None:
    known = getattr(sys, "stdlib_module_names", None)
    if known is None:
        pytest.skip("this Python does not list its own modules")
    foreign = {}
    for path in SOURCES:
        nodes = list(ast.walk(tree_of(path)))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        plugin = "plugin" in path.as_posix() or path.match("values/asserts.py")  # which only the plugin starts
        others = {name for name in names if name.split(".")[0] not in known | {"flakeboard"}}
        if others := others - ({"pytest", "_pytest.runner", "_pytest.assertion"} if plugin else set()):
            foreign[path.relative_to(CLIENT).as_posix()] = others
    assert foreign == {} and len(SOURCES) > 200


_BUILT: list[bytes] = []
"""Once a process."""


def zipped(folder: Path) -> Path:
    """The file as the dashboard builds it."""
    pytest.importorskip("django", reason="the dashboard builds the file")
    from dashboard.web.client_build import single_file

    path = folder / "flakeboard.pyz"
    if not _BUILT:
        _BUILT.append(single_file(CLIENT))
    path.write_bytes(_BUILT[0])
    return path


def old_pythons() -> list[str]:
    """The oldest supported interpreter to be had, and this one."""
    known = sorted(Path.home().glob(".pyenv/versions/3.8*/bin/python"))
    return [sys.executable, *map(str, known[:1])]


@pytest.mark.parametrize("interpreter", old_pythons(), ids=["this", "oldest"][: len(old_pythons())])
@pytest.mark.parametrize(
    ("arguments", "address"),
    [
        (["upload", "report.xml", "--strict"], "uploads"),
        (["run", "--report", "report.xml", "--", "/bin/sh", "-c", "echo >> report.xml"], "gate"),
    ],
    ids=["upload", "run"],
)
def test_the_file_works_with_python_alone(
    tmp_path: Path, server: Misbehaving, interpreter: str, arguments: list[str], address: str
) -> None:
    """No site packages, no home, no PATH: what a bare image has."""
    path = zipped(tmp_path)
    server.answers = [(200, {**ACCEPTED, **PASSED})]
    (tmp_path / "report.xml").write_text(GREEN)
    done = subprocess.run(
        [interpreter, "-I", "-S", str(path), *arguments],
        cwd=str(tmp_path),
        env={"HOME": str(tmp_path / "nobody"), **server.environ()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert PASSED["page"] in done.stdout
    assert server.requests[0].path == "/api/v1/projects/shop/" + address
    assert server.requests[0].headers["Authorization"] == "Bearer " + TOKEN
    assert set(server.requests[0].files()) == {"report.xml"}


def test_the_same_sources_make_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("django", reason="the dashboard builds the file")
    import shutil

    from dashboard.web.client_build import single_file, wheel

    copy = tmp_path / "copy"
    shutil.copytree(str(CLIENT), str(copy), ignore=shutil.ignore_patterns("__pycache__"))
    assert single_file(copy) == single_file(CLIENT)
    assert wheel(copy) == wheel(CLIENT)


def test_anybody_gets_the_file_and_only_once() -> None:
    pytest.importorskip("django", reason="the dashboard serves the file")
    from django.test import Client

    client = Client()
    answer = client.get("/client/flakeboard.pyz")
    assert answer.status_code == 200
    assert answer.content.startswith(b"#!/usr/bin/env python3\nPK")
    again = client.get("/client/flakeboard.pyz", headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.post("/client/flakeboard.pyz").status_code == 405


def test_the_hash_that_is_served_is_the_files_own(tmp_path: Path) -> None:
    pytest.importorskip("django", reason="the dashboard serves the file")
    from django.test import Client

    for name in ("flakeboard.pyz", "flakeboard.pyz.sha256"):
        (tmp_path / name).write_bytes(Client().get(f"/client/{name}").content)
    check = ["sha256sum", "-c", "flakeboard.pyz.sha256"]
    assert subprocess.run(check, cwd=tmp_path, check=True, capture_output=True).stdout == b"flakeboard.pyz: OK\n"
    (tmp_path / "flakeboard.pyz").write_bytes(b"replaced")
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 1


def without_others() -> list[str]:
    """Words by which pytest loads no other plugin of this environment, which takes longer than all else."""
    entries = {entry for known in metadata.distributions() for entry in known.entry_points if entry.group == "pytest11"}
    others = {entry.name for entry in entries if not entry.value.startswith("flakeboard")}
    return [word for name in sorted({"cacheprovider", *others}) for word in ("-p", f"no:{name}")]


@pytest.mark.parametrize("words", [[], ["-p", "flakeboard.pytest_plugin"]], ids=["found", "named"])
def test_pytest_finds_the_plugin_in_the_file_without_installing(tmp_path: Path, words: list[str]) -> None:
    """Also where it is named, as must be where pytest loads no plugins by itself."""
    (tmp_path / "test_sample.py").write_text("def test_good():\n    pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *without_others(), *words, "--flakeboard-report=out.xml"],
        cwd=str(tmp_path),
        env=environ_with(PYTHONPATH=str(zipped(tmp_path)), PYTEST_DISABLE_PLUGIN_AUTOLOAD=""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'name="test_good"' in (tmp_path / "out.xml").read_text()


def test_pip_installs_the_wheel_that_is_served_into_an_empty_environment(tmp_path: Path) -> None:
    """By its address on the index page, with no other index: command and pytest plugin are there, and RECORD is true."""
    pytest.importorskip("django", reason="the dashboard serves the file")
    from django.test import Client

    index = Client().get("/client/").content.decode()
    name, digest = re.search(r'href="([^"#]+)#sha256=([0-9a-f]{64})"', index).groups()
    (tmp_path / name).write_bytes(Client().get(f"/client/{name}").content)
    (tmp_path / "index.html").write_text(index)
    environment = tmp_path / "environment"
    venv.create(str(environment), with_pip=False, symlinks=True)
    python = str(environment / "bin" / "python")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-index",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "--find-links", str(tmp_path / "index.html"), "flakeboard"], check=True, env=environ_with())
    bare = {"PATH": "/usr/bin:/bin"}
    version = subprocess.run([str(environment / "bin" / "flakeboard"), "--version"], env=bare, capture_output=True)
    assert version.stdout.startswith(b"flakeboard 0."), version.stderr
    code = (
        "import base64, hashlib, importlib.metadata as m; d = m.distribution('flakeboard')\n"
        "digest = lambda f: base64.urlsafe_b64encode(hashlib.sha256(f.read_binary()).digest()).rstrip(b'=').decode()\n"
        "listed = [f for f in d.files if f.hash and f.parts[0].startswith('flakeboard')]\n"
        "print([e.value for e in d.entry_points if e.group == 'pytest11'], len(listed) > 100)\n"
        "assert all(digest(f) == f.hash.value for f in listed)\n"
    )
    shown = subprocess.run([python, "-c", code], env=bare, capture_output=True, text=True, check=True).stdout
    assert shown == "['flakeboard.pytest_plugin'] True\n"
    assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
