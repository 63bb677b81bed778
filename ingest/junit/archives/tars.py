"""tar without its traps: no sparse files, no chains of headers, no quadratic pax records, no skipping past the end."""

import re
import tarfile
from typing import IO

from ingest.junit.result_marks import has_marks

BLOCK = 512
_STEP = 64 * 1024
_TAR_HEADER = 64 * 1024
_TAR_HEADERS = 4
_TAR_LARGEST = 8**11
_TAR_EXTENSIONS = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)
_WITHOUT_CONTENT = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.GNUTYPE_SPARSE)
"""Some tools store the size of a link's target."""
_PAX_RECORD = re.compile(rb"([0-9]{1,7}) ([^=\n]{1,256})=")


class Entry(tarfile.TarInfo):
    """A tar header, read more strictly than by tarfile, which recurses over headers, takes quadratic time
    (CVE-2024-6232), keeps maps of sparse files in memory, and treats a damaged header as the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: "StrictTar") -> "Entry":  # type: ignore[override]
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:
            if isinstance(error, tarfile.EOFHeaderError) and not archive.headers:  # type: ignore[attr-defined]
                raise
            raise tarfile.ReadError(str(error)) from None

    def _proc_member(self, archive: "StrictTar") -> "Entry":
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("sparse files are not read")
        extends = self.type in _TAR_EXTENSIONS
        archive.headers = archive.headers + 1 if extends else 0
        if archive.headers > _TAR_HEADERS:
            raise tarfile.ReadError("too many headers before one file")
        if self.size > 0 and self.type not in _WITHOUT_CONTENT and not extends:
            self.type = tarfile.REGTYPE  # a folder, device or unknown thing with content is read like a file
        # What is of no known kind is skipped block by block: past the end that goes on for as long as its size says.
        known = self.type in tarfile.SUPPORTED_TYPES and not extends
        self._check_size(self.size, _TAR_LARGEST if known else _TAR_HEADER)
        return super()._proc_member(archive)  # type: ignore[misc,no-any-return]

    def _check_size(self, size: int, most: int) -> None:
        if not 0 <= size <= most:
            raise tarfile.ReadError(f"an entry or header of {size} bytes")

    def _proc_pax(self, archive: "StrictTar") -> "Entry":
        """The name and size of the next entry; other pax fields are ignored."""
        content = archive.fileobj.read(-(-self.size // BLOCK) * BLOCK)
        if has_marks(content):
            raise tarfile.ReadError("a header holds results")
        records = _pax_records(content[: self.size])
        entry = self.fromtarfile(archive)
        if self.type == tarfile.XGLTYPE:
            return entry
        if name := records.get(b"path"):
            entry.name = name.decode("utf-8", "surrogateescape").rstrip("/")
        if (size := records.get(b"size", b"")).isdigit() and entry.isreg():
            entry.size = int(size[:20])
            self._check_size(entry.size, _TAR_LARGEST)
            archive.offset = entry.offset_data - (-entry.size // BLOCK) * BLOCK
        return entry


class _Forward:
    """A stream that is read once, from its start to its end. tarfile's own copies what it has read ahead with every
    read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._at = stream, 0

    def tell(self) -> int:
        return self._at

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._at += len(data)
        return data

    def seek(self, position: int) -> int:
        if position < self._at:
            raise tarfile.StreamError("seeking backwards is not allowed")
        while self._at < position and self.read(min(position - self._at, _STEP)):
            pass
        return self._at


class StrictTar(tarfile.TarFile):
    tarinfo = Entry
    headers = 0
    """Extension headers since the last file."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(fileobj=_Forward(stream))  # type: ignore[arg-type]

    def content(self, entry: tarfile.TarInfo) -> bytes:
        """The content of the entry that was read last."""
        self.fileobj.seek(entry.offset_data)
        data: bytes = self.fileobj.read(entry.size)
        if len(data) < entry.size:
            raise tarfile.ReadError("unexpected end of data")
        return data

    def check_rest(self) -> None:
        """Raise if anything but padding follows the end of the archive."""
        while rest := self.fileobj.read(BLOCK * 64):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("more data follows its end")


def _pax_records(content: bytes) -> dict[bytes, bytes]:
    """The records of a pax header, each `length key=value`."""
    records, at = {}, 0
    while record := _PAX_RECORD.match(content, at):
        length, key = int(record[1]), record[2]
        if at + length <= record.end() or key.startswith(b"GNU.sparse."):
            raise tarfile.ReadError("a pax header is damaged or of a sparse file")
        records[key] = content[record.end() : at + length - 1]
        at += length
    return records
