"""Raw histories into the product: archives through `manage.py import`, matrices as uploads of JUnit reports."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.sax.saxutils import quoteattr

from django.core.management import call_command

from analytics.models import Analysis
from analytics.services import analysis_refresh
from ingest.junit.upload import read_upload
from ingest.metadata import RunMetadata
from ingest.models import Project
from ingest.processing import upload_process
from ingest.services import project_create, upload_receive
from tests.conftest import body_of
from tests.truth.histories import ABSENT, ERROR, FAIL, PASS, SKIP, History, read_matrix

REVISION = "d1ce" * 10
"""The one revision that was run again and again."""
ARCHIVES: dict[str, tuple[str, dict[str, str]]] = {
    "tfscreen": ("tfscreen.tar.xz", {}),
    "hector": ("junit_hector-100.tar.gz", {"commit": REVISION, "branch": "master"}),
    "alluxio": ("junit_alluxio-100.tar.gz", {"commit": REVISION}),
}
"""By history: its file, and what its reports don't say. hector is on a branch that is not the project's default one."""
_BEGAN = datetime(2026, 2, 2, 6, tzinfo=UTC)
_INSIDE = {PASS: "", FAIL: "<failure/>", ERROR: "<error/>", SKIP: "<skipped/>"}


@dataclass(frozen=True)
class Loaded:
    project: Project
    analysis: Analysis
    imported: str = ""
    """What the import said of how many came in."""


def load_archive(name: str, data: Path) -> Loaded:
    imported = import_archive(name, data)
    return replace(_analysed(Project.objects.get(slug=name)), imported=imported)


def import_archive(name: str, data: Path) -> str:
    """The line that says how many reports came in."""
    (file, options), said = ARCHIVES[name], io.StringIO()
    call_command("import", str(data / "histories" / file), project=name, create=True, stdout=said, **options)
    return next(line for line in said.getvalue().splitlines() if "imported" in line and "refused" in line)


def load_matrix(path: Path) -> Loaded:
    """A run an hour, on one branch in one environment. Equal reports are read once: a hundred are often the same."""
    history = read_matrix(path)
    project = project_create(slug=history.name.lower(), name=history.name)
    with _read_once() as document_is:
        for place, document in enumerate(_documents(history)):
            document_is(document)
            moment = _BEGAN + timedelta(hours=place)
            metadata = RunMetadata(commit=REVISION, branch="main", build_id=str(place), started_at=moment)
            upload, _ = upload_receive(project=project, body=body_of(document), metadata=metadata, stated_at=moment)
            upload_process(upload_id=upload.pk)
    return _analysed(project)


def _analysed(project: Project) -> Loaded:
    return Loaded(project, analysis_refresh(project=project))


def _documents(history: History) -> Iterator[bytes]:
    """The report of each run, without durations."""
    opened = [(_case(test), line) for test, line in history.timelines.items()]
    for place in range(len(history.runs)):
        cases = (f"{case}{_INSIDE[line[place]]}</testcase>" for case, line in opened if line[place] != ABSENT)
        yield f"<testsuite name={quoteattr(history.name)}>{''.join(cases)}</testsuite>".encode()


def _case(test: str) -> str:
    """The dot before the method divides the name; parameters may hold dots and spaces."""
    plain = test.split("(")[0].split("[")[0].split(" ")[0]
    cut = plain.rindex(".")
    return f"<testcase classname={quoteattr(test[:cut])} name={quoteattr(test[cut + 1 :])}>"


@contextmanager
def _read_once() -> Iterator[Any]:
    """Answers reading from memory where the document was read before; storing goes its usual way."""
    known: dict[bytes, Any] = {}
    current: list[bytes] = [b""]

    def read(*args: Any) -> Any:
        if current[0] not in known:
            known[current[0]] = read_upload(*args)
        return known[current[0]]

    def document_is(document: bytes) -> None:
        current[0] = document

    with patch("ingest.processing.read_upload", read):
        yield document_is
