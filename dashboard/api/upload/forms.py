"""A form with reports in it: fields, metadata and files. Files go to the bundle as they come, all into one spool."""

from collections.abc import Iterable, Iterator
from itertools import chain

from django.conf import settings
from django.http import QueryDict

from dashboard.api.errors import ApiError, from_refusal
from dashboard.api.upload.metadata import METADATA, SEVERAL, twice
from dashboard.api.upload.multipart import Part
from ingest.bundle import BundleWriter
from ingest.junit.problems import over_limit

_METADATA_BYTES = 64 * 1024


class Form:
    """What the parts said so far."""

    def __init__(self, writer: BundleWriter) -> None:
        self._writer = writer
        self._field_bytes = 0
        self.fields = QueryDict(mutable=True)
        self.metadata: str | None = None
        self.files = 0
        self.size = 0

    def add(self, part: Part) -> None:
        """Read a part to its end, and put it where it belongs."""
        if part.name == METADATA:
            self._add_metadata(part)
        elif part.file_name is None:
            self._add_field(part)
        else:
            self._add_file(part)

    def _add_file(self, part: Part) -> None:
        first = next(part.content, None)
        if first is None and not part.file_name:
            return  # a browser's form in which no file was chosen
        self.files += 1
        if self.files > settings.LIMITS.files:
            raise from_refusal(over_limit("files", settings.LIMITS.files, "The upload has too many files"))
        content = part.content if first is None else chain((first,), part.content)
        self.size = self._writer.add(part.label, counted(content, self.size)) + self.size

    def _add_field(self, part: Part) -> None:
        if part.name in self.fields and part.name not in SEVERAL:
            raise twice(part.name)
        self.fields.appendlist(part.name, self._text(part))
        if sum(map(len, self.fields.lists())) > settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:
            raise _too_much(f"The form has more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,} fields")

    def _add_metadata(self, part: Part) -> None:
        if self.metadata is not None:
            raise twice(part.name)
        self.metadata = self._text(part) if part.file_name is None else _metadata_text(part.content)

    def _text(self, part: Part) -> str:
        """A field's value. All of them together stay small, as they are held in memory."""
        pieces, most = [], settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        for piece in part.content:
            pieces.append(piece)
            self._field_bytes += len(piece)
            if self._field_bytes > most:
                raise _too_much(f"The fields of the form have more than {most:,} bytes")
        return b"".join(pieces).decode("utf-8", "replace")


def counted(chunks: Iterable[bytes], size: int = 0) -> Iterator[bytes]:
    """The chunks, as long as they and what came before are within the limit."""
    for chunk in chunks:
        size += len(chunk)
        if size > settings.LIMITS.bytes_in:
            raise too_large()
        yield chunk


def too_large() -> ApiError:
    return from_refusal(over_limit("bytes_in", settings.LIMITS.bytes_in, "The upload is too large"))


def _too_much(sentence: str) -> ApiError:
    return ApiError(413, "limit_fields", f"{sentence}: send reports as files, with a file name.")


def _metadata_text(content: Iterable[bytes]) -> str:
    text = b""
    for piece in content:
        text += piece[: _METADATA_BYTES + 1]
        if len(text) > _METADATA_BYTES:
            raise ApiError(413, "limit_metadata", f"The metadata part is larger than {_METADATA_BYTES:,} bytes.")
    return text.decode("utf-8", "replace")
