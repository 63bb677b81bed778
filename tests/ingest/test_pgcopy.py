"""Rows written by COPY are the rows that were given, whatever is in them and however many there are."""

from collections.abc import Callable

import pytest

from ingest import pgcopy
from ingest.models import Project, Signature
from ingest.services import project_create

TEXTS = ["plain", "back\\slash", "tab\tand\nlines\r", "\\N", "\\.", "", "ü €", "'quoted'"]


@pytest.fixture
def project(db: None) -> Project:
    return project_create(slug="copied", name="Copied")


@pytest.mark.parametrize("write", [pgcopy.copy_rows, pgcopy.stream_rows])
@pytest.mark.parametrize("size", [1, 7, 256 * 1024])
def test_rows_arrive_as_they_are(
    monkeypatch: pytest.MonkeyPatch, project: Project, write: Callable[..., None], size: int
) -> None:
    monkeypatch.setattr(pgcopy, "_STREAMED", size)
    rows = [
        (project.pk, number.to_bytes(32, "big"), text, "2026-01-01T00:00:00+00:00") for number, text in enumerate(TEXTS)
    ]
    write(Signature, ("project_id", "digest", "text", "first_seen"), iter(rows))
    assert list(Signature.objects.order_by("digest").values_list("text", flat=True)) == TEXTS


def test_no_rows_are_no_rows(project: Project) -> None:
    pgcopy.stream_rows(Signature, ("project_id", "digest", "text", "first_seen"), iter(()))
    assert not Signature.objects.exists()
