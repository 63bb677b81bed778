"""The files of a request with attachments, one by one and never whole in memory."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from dashboard.api.errors import ApiError
from dashboard.api.upload.multipart import BadMultipart, read_form
from dashboard.api.upload.receipt import cut_short
from ingest.attachments.services import AttachmentRefused
from ingest.junit.archives.zips import check_directory
from ingest.junit.limits import Limits

_CHUNK = 256 * 1024
_READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file and its bytes, which must be read before the next file is asked for."""

    name: str
    content: Iterator[bytes]

    def drain(self) -> None:
        """Read what is left of a file that is not taken."""
        try:
            for _ in self.content:
                pass
        except AttachmentRefused:
            return


def form_files(content_type: str, chunks: Iterator[bytes]) -> Iterator[SentFile]:
    """The files of a form; its fields say nothing here."""
    try:
        for part in read_form(content_type, chunks):
            file = SentFile(part.file_name or "", part.content)
            if part.file_name:
                yield file
            file.drain()
    except EOFError as error:
        raise cut_short() from error
    except BadMultipart as error:
        raise ApiError(error.status, "bad_multipart", f"The multipart body cannot be read. {error}.") from error


def zip_files(source: BinaryIO, limits: Limits) -> Iterator[SentFile]:
    """The files of a zip. An archive inside is a file like others: it is not opened."""
    check_directory(source, limits)
    with zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield SentFile(info.filename, _inflated(archive, info))


def _inflated(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """An entry's bytes, a little at a time: whoever reads them stops at the limit."""
    if info.flag_bits & _ENCRYPTED or info.compress_type not in _READ:
        raise AttachmentRefused("archive_method", "The entry is encrypted, or packed in a way that is not read here.")
    try:
        with archive.open(info) as entry:
            yield from iter(lambda: entry.read(_CHUNK), b"")
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        raise AttachmentRefused("archive_damaged", "The entry cannot be read.") from error
