"""Files and metadata as one request body: a form with a tar.gz, kept on disk, the same bytes for the same input."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from typing import Any, BinaryIO, Iterable, Mapping, Sequence, Tuple
from urllib.parse import quote

from flakeboard.problems import Problem

_LEVEL = 6
_CHUNK = 256 * 1024
_BOUNDARY = "flakeboard-7d1f0c5e2b9a4c36"

FILES = 2_000
"""Files in one upload that the server accepts by default (LIMIT_FILES)."""
BYTES = 400 * 1024 * 1024
"""Bytes before compression, a little below the server's default limit (LIMIT_BYTES_OUT)."""

Named = Tuple[str, str]
"""A file's path and its name in the archive."""


@dataclass
class Package:
    """A request body that can be sent again until it is closed."""

    body: BinaryIO
    size: int
    digest: str
    files: int

    def headers(self) -> dict[str, str]:
        return {
            "Content-Type": "multipart/form-data; boundary=" + _BOUNDARY,
            "Content-Length": str(self.size),
            "Idempotency-Key": self.digest,
        }

    def rewound(self) -> BinaryIO:
        self.body.seek(0)
        return self.body

    def close(self) -> None:
        self.body.close()

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def pack(files: Iterable[Named], metadata: Mapping[str, Any], salt: str = "") -> Package:
    """Pack files with their metadata. `salt` is what else tells this request's idempotency key from another's."""
    body: BinaryIO = tempfile.TemporaryFile(prefix="flakeboard-")  # noqa: SIM115 - the package closes it
    try:
        content = json.dumps(metadata, sort_keys=True, ensure_ascii=True)
        body.write(_part('name="metadata"', "application/json") + content.encode("ascii") + b"\r\n")
        body.write(_part('name="file"; filename="reports.tar.gz"', "application/gzip"))
        count = _archive(files, body)
        body.write(f"\r\n--{_BOUNDARY}--\r\n".encode("ascii"))
        return Package(body, body.tell(), _digest(body, salt), count)
    except BaseException:
        body.close()
        raise


def pack_files(files: Iterable[Named]) -> Package:
    """Pack files as they are, each a part by its name; one that cannot be read is left out."""
    body: BinaryIO = tempfile.TemporaryFile(prefix="flakeboard-")  # noqa: SIM115 - the package closes it
    count = 0
    try:
        for path, name in files:
            try:
                file = open(path, "rb")  # noqa: SIM115 - closed below
            except OSError:
                continue
            with file:
                body.write(_part(f"name=\"file\"; filename*=UTF-8''{quote(name, safe='')}", "application/octet-stream"))
                shutil.copyfileobj(file, body, _CHUNK)
                body.write(b"\r\n")
            count += 1
        body.write(f"--{_BOUNDARY}--\r\n".encode("ascii"))
        return Package(body, body.tell(), _digest(body, "attachments"), count)
    except BaseException:
        body.close()
        raise


def _part(disposition: str, kind: str) -> bytes:
    head = "--{}\r\nContent-Disposition: form-data; {}\r\nContent-Type: {}\r\n\r\n"
    return head.format(_BOUNDARY, disposition, kind).encode("ascii")


def batches(files: Sequence[Named]) -> list[list[Named]]:
    """Split the files into as few groups as the server's limits allow: beyond them it ignores files."""
    groups: list[list[Named]] = [[]]
    size = 0
    for path, name in files:
        file_size = _size_of(path)
        if groups[-1] and (len(groups[-1]) >= FILES or size + file_size > BYTES):
            groups.append([])
            size = 0
        groups[-1].append((path, name))
        size += file_size
    return groups


def _size_of(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _archive(files: Iterable[Named], body: BinaryIO) -> int:
    """Leave out times, owners and modes: the server recognises a repeated upload by its bytes."""
    count = 0
    with gzip.GzipFile("", "wb", _LEVEL, body, mtime=0) as zipped, tarfile.open(
        fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT
    ) as tar:
        for path, name in files:
            _add(tar, path, name)
            count += 1
    return count


def _add(tar: tarfile.TarFile, path: str, name: str) -> None:
    """Add a file at its present size, so that one that grows meanwhile does not spill into the next header."""
    try:
        with open(path, "rb") as file:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = os.fstat(file.fileno()).st_size, 0o644
            tar.addfile(entry, file)
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from None


def _digest(body: BinaryIO, salt: str) -> str:
    digest = hashlib.sha256(salt.encode("utf-8", "surrogateescape"))
    body.seek(0)
    for chunk in iter(lambda: body.read(_CHUNK), b""):
        digest.update(chunk)
    return digest.hexdigest()


def named(paths: Iterable[str], folder: str = "") -> list[Named]:
    """Unique names in the archive for paths: relative to the folder or the current one, and never outside it."""
    taken: dict[str, str] = {}
    for path in paths:
        name = _name(path, folder)
        while name in taken:
            name = "_/" + name
        taken[name] = path
    return [(path, name) for name, path in taken.items()]


def _name(path: str, folder: str) -> str:
    try:
        inside = bool(folder) and os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)
        relative = (
            os.path.relpath(os.path.realpath(path), os.path.realpath(folder)) if inside else os.path.relpath(path)
        )
    except ValueError:  # another drive
        relative = os.path.basename(path)
    steps = [step for step in relative.replace(os.sep, "/").split("/") if step not in ("", ".", "..")]
    return "/".join(steps).encode("utf-8", "replace").decode("utf-8")
