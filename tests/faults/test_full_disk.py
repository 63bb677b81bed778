"""A disk that is really full, with everything on it: told as such, nothing half kept, and it passes by itself.

The disk is a small one in memory. To mount it one must be root, and not in most containers."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.faults.server import NEVER, ONE_OF_EACH, Server, assert_each_counted_once, running, send_all, until

pytestmark = pytest.mark.processes
MEGABYTES = 320
REPORT = b"<testsuite name='%b'><testcase name='a'/></testsuite>" % Random(1).randbytes(500_000).hex().encode()
"""More than the database has left in its files, also once it is compressed."""


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=0755", "flakeboard", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here: that takes root, and a container that lets it")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def server(disk: Path) -> Iterator[Server]:
    with running(disk, ANALYSIS_DELAY_SECONDS=NEVER, **ONE_OF_EACH) as started:
        yield started


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Until the block ends somebody else's file has all the room that there was."""
    filler = disk / "somebody-elses"
    with filler.open("wb", buffering=0) as file:
        while left := os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize:
            with suppress(OSError):  # somebody was quicker: there is less by now
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), left)
    try:
        yield
    finally:
        filler.unlink()


def answer_to(server: Server, content: bytes, query: str) -> tuple[int, str]:
    """Status and code, asked again as clients do where no answer comes."""

    def attempt() -> tuple[int, dict[str, Any]] | None:
        with suppress(ConnectionError):
            return server.send(content, query)
        return None

    status, answer = until(attempt, 30, "there is an answer")
    return status, answer["error"]["code"]


def test_a_full_disk_refuses_and_recovers_by_itself(server: Server, disk: Path) -> None:
    send_all(server, range(1, 3))
    assert_each_counted_once(server, server.accepted)
    with full(disk):
        for _ in range(5):
            assert answer_to(server, REPORT, "build_id=9") == (503, "unavailable")
    assert until(server.states, 30, "the database answers") == {"processed": 2}
    send_all(server, range(3, 5))
    assert_each_counted_once(server, server.accepted)
    assert server.query("SELECT count(*) FROM ingest_run")[0][0] == 4
