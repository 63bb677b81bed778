"""The client as files to fetch, built from its sources: a single file that Python runs, and a wheel that pip installs.

The same sources make the same bytes, whoever builds them and when."""

import base64
import hashlib
import io
import re
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = """import os
import sys

if sys.version_info < (3, 8):
    sys.stderr.write("flakeboard: warning: Python 3.8 or newer is needed, so the command runs without Flakeboard.\\n")
    if sys.argv[1:2] != ["run"] or "--" not in sys.argv:
        sys.exit(0)
    command = sys.argv[sys.argv.index("--") + 1 :]
    os.execvp(command[0], command)

from flakeboard.cli import main

sys.exit(main())
"""
"""An older Python cannot even read the client; it must not keep the tests from running."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_VERSION = re.compile(r'^__version__ = "([0-9][0-9a-z.]*)"$', re.M)


def single_file(folder: Path) -> bytes:
    """A zip that Python runs. It describes itself as a wheel does: pytest finds the plugin in it through PYTHONPATH."""
    files = {**_sources(folder), **_description(folder), "__main__.py": _MAIN.encode()}
    return _SHEBANG + _zip(files, len(_SHEBANG))


def wheel_name(folder: Path) -> str:
    return f"flakeboard-{_version(folder)}-py3-none-any.whl"


def wheel(folder: Path) -> bytes:
    """A wheel by the binary distribution format 1.0."""
    about = f"{_about(folder)}/WHEEL"
    tags = "Wheel-Version: 1.0\nGenerator: flakeboard\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**_sources(folder), **_description(folder), about: tags.encode()}
    record = f"{_about(folder)}/RECORD"
    rows = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in sorted(files.items())]
    return _zip({**files, record: "\n".join([*rows, f"{record},,", ""]).encode()})


def _version(folder: Path) -> str:
    found = _VERSION.search((folder / "flakeboard" / "__init__.py").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("The client's __init__.py names no version.")
    return found[1]


def _about(folder: Path) -> str:
    return f"flakeboard-{_version(folder)}.dist-info"


def _sources(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "flakeboard").rglob("*.py")}


def _description(folder: Path) -> dict[str, bytes]:
    """METADATA and entry points, as the client's own pyproject.toml names them."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {_version(folder)}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        "",
    ]
    groups: dict[str, Any] = {"console_scripts": project["scripts"], **project["entry-points"]}
    points = [
        f"[{group}]\n" + "".join(f"{name} = {groups[group][name]}\n" for name in groups[group]) for group in groups
    ]
    about = _about(folder)
    return {f"{about}/METADATA": "\n".join(metadata).encode(), f"{about}/entry_points.txt": "\n".join(points).encode()}


def _zip(files: Mapping[str, bytes], offset: int = 0) -> bytes:
    """A zip of the files; `offset` is how many bytes will stand before it."""
    packed = io.BytesIO()
    packed.write(b"\0" * offset)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, content)
    return packed.getvalue()[offset:]


def _digest(content: bytes) -> str:
    """As RECORD has it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
