"""A backup, restored on an empty machine, is the same: counts, conclusions and what pages say.

Programs of PostgreSQL see only what is committed, so that tests here run outside of a transaction; one that asks for
`db` has pytest-django make the database for all."""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client

from dashboard.ops.embedded import Cluster
from dashboard.ops.environment import BadSetting
from dashboard.people.models import AuditEntry
from dashboard.retention import backup, postgres_programs
from ingest.models import Project, Run
from ingest.services import project_create
from tests.api_client import Program, committed_once
from tests.conftest import ROOT
from tests.dashboard.analysed import Analysed, make

pytestmark = pytest.mark.skipif(bool(os.environ.get("DATABASE_URL")), reason="makes clusters of its own")
_NUMBER = re.compile(r"\d[\d,.]*")
_PAGES = ("", "tests", "runs", "clusters", "incidents", "fix-first")


@pytest.fixture(scope="module")
def shop(django_db_setup: None, django_db_blocker: Any) -> Iterator[Analysed]:
    with committed_once(django_db_blocker, make) as made, django_db_blocker.unblock():
        Project.objects.filter(pk=made.project.pk).update(public=True)
        yield made


@pytest.fixture(scope="module")
def file(shop: Analysed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("backup") / "flakeboard.backup"
    call_command("backup", str(path))
    return path


@dataclass(frozen=True)
class Restored:
    """An empty cluster after the command put the backup there, and what that said."""

    cluster: Cluster
    said: str


@pytest.fixture(scope="module")
def restored(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restored]:
    home = tmp_path_factory.mktemp("empty")
    cluster = Cluster(home, options=("-c", "fsync=off", "-c", "shared_buffers=16MB"))
    cluster.start()
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", "restore", str(file)],
            cwd=ROOT,
            env={**os.environ, "FLAKEBOARD_HOME": str(home)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        yield Restored(cluster, done.stdout)
    finally:
        cluster.stop()


@contextmanager
def using(cluster: Cluster) -> Iterator[None]:
    """The application on another database."""
    here = {name: connection.settings_dict[name] for name in ("HOST", "NAME", "USER")}
    connection.close()
    connection.settings_dict.update(HOST=str(cluster.socket), NAME="flakeboard", USER="flakeboard")
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(here)


def concluded(shop: Analysed) -> dict[str, Any]:
    """What the API and the pages tell of the project."""
    program, browser = Program(shop.read_token), Client()
    told: dict[str, Any] = {
        path: program.read(path) for path in ("analyses/current", "tests", "clusters", "incidents", "priorities")
    }
    for page in _PAGES:
        answer = browser.get(f"/projects/shop/{page}")
        assert answer.status_code == 200
        told[page] = _NUMBER.findall(re.sub(r"<[^>]*>", " ", answer.content.decode()))
    return told


def test_what_is_restored_on_an_empty_cluster_is_what_was_backed_up(shop: Analysed, restored: Restored) -> None:
    before, counted = concluded(shop), backup.counts()
    assert f"{sum(counted.values()):,} rows" in restored.said
    with using(restored.cluster):
        assert backup.counts() == counted
        assert concluded(shop) == before
        with transaction.atomic():  # others read this database, too
            Run.objects.create(project=shop.project, key=b"k", started_at=shop.project.created_at)  # sequences go on
            entry = AuditEntry.objects.create(action="x", actor_kind="system")
            with pytest.raises(Exception, match="only ever added to"):
                AuditEntry.objects.filter(pk=entry.pk)._raw_delete("default")
            transaction.set_rollback(True)


def test_a_database_with_something_in_it_is_left_alone_unless_told(
    shop: Analysed, file: Path, restored: Restored, tmp_path: Path
) -> None:
    counted = backup.counts()
    with using(restored.cluster):
        project_create(slug="new", name="Newer than the backup")
        with pytest.raises(CommandError, match="--replace"):
            call_command("restore", str(file))
        assert Project.objects.filter(slug="new").exists()
        call_command("restore", str(file), replace=True)
        assert backup.counts() == counted
        _damaged_changes_nothing(file, tmp_path / "damaged")
        assert backup.counts() == counted


def _damaged_changes_nothing(file: Path, damaged: Path) -> None:
    """Half a dump with a manifest: what is there stays, since all is one transaction."""
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(damaged, "w") as half:
        half.writestr("manifest.json", whole.read("manifest.json"))
        half.writestr("database.dump", whole.read("database.dump")[: file.stat().st_size // 2])
    with pytest.raises(CommandError, match="pg_restore"):
        call_command("restore", str(damaged), replace=True)


def test_the_manifest_says_what_the_backup_is(shop: Analysed, file: Path) -> None:
    manifest = json.loads(zipfile.ZipFile(file).read("manifest.json"))
    assert manifest["counts"]["ingest_report"] == 40
    assert ["keeping", "0003_attachments"] in manifest["migrations"]
    assert manifest["postgresql"] == postgres_programs.server_major()
    assert file.stat().st_mode & 0o077 == 0, "it holds everything: nobody else reads it"


def test_no_token_can_be_read_out_of_it(shop: Analysed, file: Path) -> None:
    content = file.read_bytes() + zipfile.ZipFile(file).read("database.dump")
    assert shop.upload_token.encode() not in content


def _with_manifest(file: Path, target: Path, **changes: Any) -> Path:
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(target, "w") as other:
        other.writestr("manifest.json", json.dumps(json.loads(whole.read("manifest.json")) | changes))
    return target


def test_a_backup_of_a_newer_release_is_refused(shop: Analysed, file: Path, tmp_path: Path) -> None:
    newer = _with_manifest(file, tmp_path / "newer", migrations=[["ingest", "9999_later"]])
    with pytest.raises(CommandError, match=r"ingest\.9999_later"):
        call_command("restore", str(newer), replace=True)


def test_something_else_than_a_backup_is_refused(shop: Analysed, tmp_path: Path) -> None:
    for name, content in (("text", b"hello"), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CommandError, match="cannot be read as a backup"):
            call_command("restore", str(tmp_path / name))
    with pytest.raises(CommandError, match="cannot be read as a backup"):
        call_command("restore", str(tmp_path / "absent"))


def test_a_backup_that_fails_leaves_the_older_file(shop: Analysed, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()
    monkeypatch.setattr(backup, "how_to_connect", lambda: (["--dbname", "nowhere"], dict(os.environ)))
    with pytest.raises(CommandError, match="pg_dump"):
        call_command("backup", str(file))
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("server", "writing", "chosen"), [(18, True, 18), (17, True, 18), (16, False, 18), (16, True, 16), (15, True, None)]
)
def test_programs_are_chosen_that_fit_the_server(
    db: None, monkeypatch: pytest.MonkeyPatch, server: int, writing: bool, chosen: int | None
) -> None:
    there = {18: Path("/pg/18"), 16: Path("/pg/16")} if chosen == 16 else {18: Path("/pg/18")}
    monkeypatch.setattr(postgres_programs, "server_major", lambda: server)
    monkeypatch.setattr(postgres_programs, "_folders", lambda: iter(there.values()))
    monkeypatch.setattr(postgres_programs, "_major", lambda program: int(program.parent.name))
    if chosen is None:
        with pytest.raises(BadSetting, match="postgresql-client-15"):
            postgres_programs.folder_for(writing=writing)
    else:
        assert postgres_programs.folder_for(writing=writing) == there[chosen]
