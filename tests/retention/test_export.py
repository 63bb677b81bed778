"""A whole project as a zip of JSON lines or Parquet: everything is in it, and reads back as it was."""

import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from analytics.models import TestFinding
from dashboard.quarantine.services import Actor, Terms, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from dashboard.retention.export import tables, writers
from dashboard.retention.export.archive import Archive, ExportRunning
from ingest import selectors
from ingest.models import Failure, Project, Report, Run, Signature, Test
from ingest.verdict import Verdict
from tests.api_client import code
from tests.dashboard.analysed import RUNS, Analysed
from tests.dashboard.conftest import committed, empty, shop

__all__ = ["committed", "empty", "shop"]


def archive_of(shop: Analysed, query: str = "") -> zipfile.ZipFile:
    answer = shop.reader.get(f"export{query}")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert archive.testzip() is None
    return archive


def json_rows(archive: zipfile.ZipFile, table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(f"{table}.jsonl").decode().splitlines()]


def parquet_rows(archive: zipfile.ZipFile, table: str) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(io.BytesIO(archive.read(f"{table}.parquet"))).to_pylist()


@pytest.fixture
def quarantined(shop: Analysed) -> Analysed:
    test = Test.objects.get(project=shop.project, name="flaky")
    actor, terms = Actor(ActorKind.PERSON, "anna"), Terms(reason="it flakes")
    quarantine_create(project=shop.project, tests=[test], actor=actor, terms=terms, action=Action.PROPOSE)
    return shop


def test_everything_is_in_it(quarantined: Analysed) -> None:
    archive = archive_of(quarantined)
    answer = json.loads(archive.read("manifest.json"))["tables"]
    assert set(archive.namelist()) == {"manifest.json", *(f"{name}.jsonl" for name in answer)}
    rows = {name: len(json_rows(archive, name)) for name in answer}
    assert rows == {name: one["rows"] for name, one in answer.items()}
    project = quarantined.project
    assert rows["tests"] == Test.objects.filter(project=project).count()
    assert rows["runs"] == rows["reports"] == RUNS
    assert rows["executions"] == sum(Report.objects.filter(project=project).values_list("tests", flat=True))
    assert rows["failures"] == Failure.objects.filter(report__project=project).count() > 10
    assert rows["signatures"] == Signature.objects.filter(project=project).count()
    assert rows["quarantines"] == rows["quarantine_tests"] == rows["events"] == 1
    assert rows["findings"] > TestFinding.objects.filter(analysis__project=project).count() > 0


def _executions_of(rows: list[dict[str, Any]], number: int) -> dict[int, tuple[str, float | None, bool]]:
    return {row["report"]: (row["verdict"], row["duration"], row["retried"]) for row in rows if row["test"] == number}


def _stored(shop: Analysed, name: str) -> dict[int, tuple[str, float | None, bool]]:
    history = selectors.test_history(Test.objects.get(project=shop.project, name=name))
    return {one.report_id: (one.verdict.name, one.duration, one.retried) for one in history}


@pytest.mark.parametrize("name", ["flaky", "skipped", "broken"])
def test_executions_in_json_are_what_the_reports_say(shop: Analysed, name: str) -> None:
    rows = json_rows(archive_of(shop), "executions")
    assert _executions_of(rows, shop.number(name)) == _stored(shop, name)


def test_parquet_and_json_say_the_same(quarantined: Analysed) -> None:
    as_json, as_parquet = archive_of(quarantined), archive_of(quarantined, "?format=parquet")
    for table in tables.TABLES:
        of_json, of_parquet = json_rows(as_json, table.name), parquet_rows(as_parquet, table.name)
        assert [_plain(row, table) for row in of_parquet] == of_json, table.name


def _plain(row: dict[str, Any], table: tables.Table) -> dict[str, Any]:
    """A row of Parquet as JSON has it."""
    kinds = {name: kind.value for name, kind in table.columns.items()}
    parsed = {name: json.loads(value) if kinds[name] == "json" else value for name, value in row.items()}
    return {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in parsed.items()}


def test_large_projects_are_written_in_batches(shop: Analysed, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that memory holds one batch, however many executions there are."""
    monkeypatch.setattr(tables, "_EXECUTIONS", 50)
    monkeypatch.setattr(tables, "_ROWS", 7)
    parquet = pytest.importorskip("pyarrow.parquet")
    archive = archive_of(shop, "?format=parquet")
    executions = parquet.ParquetFile(io.BytesIO(archive.read("executions.parquet")))
    largest = max(executions.metadata.row_group(at).num_rows for at in range(executions.num_row_groups))
    assert executions.num_row_groups > 10 and largest < 50 + 20
    assert len(parquet_rows(archive, "runs")) == Run.objects.filter(project=shop.project).count()


def test_bytes_come_before_the_last_batch_is_read(shop: Analysed, monkeypatch: pytest.MonkeyPatch) -> None:
    from dashboard.retention.export import archive, kinds

    read: list[int] = []

    def batches(project: Any) -> Iterator[kinds.Columns]:
        noise = np.random.default_rng(1)
        for batch in range(20):
            read.append(batch)
            yield {"n": noise.integers(0, 2**60, 20_000)}

    monkeypatch.setattr(archive, "TABLES", (kinds.Table("noise", {"n": kinds.Kind.INT}, batches),))
    stream = iter(archive.Archive(shop.project, "json"))
    next(stream)
    next(stream)
    assert len(read) < 5


def test_an_unknown_verdict_or_duration_is_told_apart() -> None:
    assert writers._plain(np.array([1.5, np.nan]), tables.Kind.FLOAT) == [1.5, None]
    assert writers._plain(np.array([Verdict.SKIP], dtype=np.uint8), tables.Kind.VERDICT) == ["SKIP"]


def test_an_empty_project_exports_empty_files(empty) -> None:  # type: ignore[no-untyped-def]
    for format_, read in (("json", json_rows), ("parquet", parquet_rows)):
        answer = empty.get(f"export?format={format_}")
        archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
        assert read(archive, "executions") == read(archive, "runs") == []


def test_a_format_that_is_none_is_refused(shop: Analysed) -> None:
    assert code(shop.reader.get("export?format=csv")) == (422, "invalid")
    assert code(shop.reader.get("export?what=1")) == (422, "unknown_field")


def test_without_pyarrow_parquet_says_what_to_install(shop: Analysed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    answer = shop.reader.get("export?format=parquet")
    assert code(answer) == (501, "parquet_missing")
    assert "requirements-parquet.txt" in answer.json()["error"]["sentence"]


def test_the_command_writes_the_same_file(shop: Analysed, tmp_path: Path) -> None:
    file = tmp_path / "shop.zip"
    call_command("export", "shop", str(file))
    assert json_rows(zipfile.ZipFile(file), "runs") == json_rows(archive_of(shop), "runs")
    with pytest.raises(CommandError, match="no project"):
        call_command("export", "nowhere", str(file))


def test_an_export_is_of_one_moment_and_a_second_one_waits(committed: Analysed, django_db_blocker: Any) -> None:
    """Outside of a transaction, as a request is."""
    with django_db_blocker.unblock():
        first = Archive(committed.project, "json")
        with ThreadPoolExecutor(1) as elsewhere:
            assert elsewhere.submit(_meanwhile, committed.project).result() == "refused"
        archive = zipfile.ZipFile(io.BytesIO(b"".join(first)))
        assert len(json_rows(archive, "runs")) == RUNS
        again = zipfile.ZipFile(io.BytesIO(b"".join(Archive(committed.project, "json"))))
        assert len(json_rows(again, "runs")) == RUNS + 1
        Run.objects.filter(project=committed.project, build_id="meanwhile").delete()


def _meanwhile(project: Project) -> str:
    Run.objects.create(project=project, key=b"meanwhile", build_id="meanwhile", started_at=project.created_at)
    try:
        Archive(project, "json")
    except ExportRunning:
        return "refused"
    finally:
        connection.close()
    return "begun"
