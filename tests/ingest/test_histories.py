"""Histories from disk: what an import says, keeps and can be asked to do again. Real ones: tests/truth/test_imports.py."""

import io
import tarfile
import zipfile
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from ingest.history import unpacked
from ingest.models import Report, Upload, UploadChunk

pytestmark = pytest.mark.django_db


def outcome(said: StringIO) -> str:
    """The line that says how many came in."""
    return next(line for line in said.getvalue().splitlines() if "imported" in line and "refused" in line)


def reports_in(folder: Path) -> Path:
    """A small history of our own: two reports, one of them with a very long path."""
    for number, name in enumerate(("a.xml", f"{'deep/' * 60}b.xml")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<testsuite><testcase classname='c' name='t{number}'/></testsuite>")
    return folder


def import_folder(folder: Path) -> str:
    said = StringIO()
    call_command("import", str(folder), project="small", create=True, stdout=said)
    return outcome(said)


def test_an_interrupted_import_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = reports_in(tmp_path)
    assert import_folder(folder) == "2 imported, 0 known before, 0 refused"
    Report.objects.filter(upload=Upload.objects.first()).delete()
    Upload.objects.filter(pk=Upload.objects.first().pk).update(state="processing", claim="0" * 32, tries=1)
    assert import_folder(folder) == "1 imported, 1 known before, 0 refused"
    assert Report.objects.count() == 2


def test_a_zip_keeps_its_dates(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "history.zip", "w") as archive:
        info = zipfile.ZipInfo("old.xml", date_time=(2020, 5, 17, 10, 0, 0))
        archive.writestr(info, "<testsuite><testcase classname='c' name='t'/></testsuite>")
    import_folder(tmp_path / "history.zip")
    assert Report.objects.get().started_at.isoformat() == "2020-05-17T10:00:00+00:00"


# -- what is imported stays --------------------------------------------------------------------------------------


def said_by(command: str, *arguments: str, **options: object) -> str:
    said = StringIO()
    call_command(command, *arguments, stdout=said, **options)
    return said.getvalue()


def dated(folder: Path, day: str) -> Path:
    (folder / "old.xml").write_text(f"<testsuite timestamp='{day}T10:00:00Z'><testcase name='a'/></testsuite>")
    return folder


def test_an_import_says_how_it_dates_what_stays_how_long_and_what_can_be_seen(tmp_path: Path) -> None:
    said = said_by("import", str(dated(tmp_path, "2019-05-17")), project="small", create=True)
    assert "1 report files: 1 by the timestamp in the report, from 2019-05-17 to 2019-05-17." in said
    assert "Retention counts from today: they are kept for 400 days" in said
    assert "small has 1 reports of 1 tests, the newest of 2019-05-17." in said
    assert "/projects/small/" in said
    said_by("retain", project="small")
    assert Report.objects.get().placed_at.year == 2019


def test_with_its_own_age_an_old_history_goes_and_one_is_told_beforehand(tmp_path: Path) -> None:
    folder = dated(tmp_path, "2019-05-17")
    said = said_by("import", str(folder), project="small", create=True, keep_age=True)
    assert "1 of them will be removed within 7 days" in said
    said_by("retain", project="small")
    assert not Report.objects.exists()
    assert outcome(StringIO(said_by("import", str(folder), project="small"))).startswith("1 imported")
    said_by("retain", project="small")
    assert Report.objects.count() == 1


def test_progress_is_shown_to_who_looks_at_a_terminal(tmp_path: Path) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    shown, hidden = Terminal(), StringIO()
    with redirect_stderr(shown):
        said_by("import", str(dated(tmp_path, "2019-05-17")), project="small", create=True, stderr=shown)
    with redirect_stderr(hidden):
        said_by("import", str(tmp_path), project="small", stderr=hidden)
    assert "1/1" in shown.getvalue() and hidden.getvalue() == ""


def test_reports_are_rebuilt_from_the_bytes_that_are_kept(tmp_path: Path) -> None:
    said_by("import", str(reports_in(tmp_path)), project="small", create=True)
    before = list(Report.objects.order_by("upload_id").values_list("upload_id", "tests", "placed_at", "kept_from"))
    Report.objects.update(tests=99)
    gone = Upload.objects.order_by("pk").last()
    assert said_by("reprocess", project="small").startswith("2 processed")
    assert (
        list(Report.objects.order_by("upload_id").values_list("upload_id", "tests", "placed_at", "kept_from")) == before
    )
    UploadChunk.objects.filter(upload=gone).delete()
    Report.objects.update(tests=99)
    assert said_by("reprocess").startswith("1 processed")
    assert sorted(Report.objects.values_list("tests", flat=True)) == [1, 99], "what has no bytes left stays as it is"
    with pytest.raises(CommandError, match="no project"):
        said_by("reprocess", project="nowhere")


def test_a_tar_gives_its_regular_files_with_their_dates_and_nothing_outside(tmp_path: Path) -> None:
    packed = tmp_path / "deep" / "history.tar"
    packed.parent.mkdir()
    with tarfile.open(packed, "w") as archive:
        for name, kind in (
            ("a/one.xml", tarfile.REGTYPE),
            ("../outside.xml", tarfile.REGTYPE),
            (str(tmp_path / "absolute.xml"), tarfile.REGTYPE),
            ("a/link.xml", tarfile.SYMTYPE),
            ("a/device.xml", tarfile.CHRTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mtime = kind, "/etc/passwd", 1_000_000_000
            info.size = 3 if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(b"<a>"))
    with unpacked(packed) as folder:
        files = [path for path in folder.rglob("*") if not path.is_dir()]
        assert [path.relative_to(folder).as_posix() for path in files] == ["a/one.xml"]
        assert files[0].read_bytes() == b"<a>" and files[0].stat().st_mtime == 1_000_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
