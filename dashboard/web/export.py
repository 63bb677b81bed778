"""A list as a file: CSV for spreadsheets, JSON for programs; all of it, not only the page that is shown."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from dashboard.web.query import choice

Row = Sequence[Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""What a spreadsheet may take for the beginning of a formula or a command."""
_ROWS_A_PIECE = 500


def exported(request: HttpRequest, name: str, headers: Sequence[str], rows: Iterable[Row]) -> HttpResponseBase | None:
    """The list as the file that `?format=csv` or `?format=json` asks for; None where a page is asked for.

    `rows` is read only where a file is asked for, and streamed: give an iterator."""
    format_ = choice(request.GET, "format", _FORMATS)
    if not format_:
        return None
    write, kind = _FORMATS[format_]
    response = StreamingHttpResponse(_pieces(write(headers, rows)), content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{_file_name(name)}.{format_}"'
    return response


def _file_name(name: str) -> str:
    return "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_") else "-" for sign in name)


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Lines by the hundred: one at a time would be slow to send."""
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        if len(waiting) == _ROWS_A_PIECE:
            yield "".join(waiting)
            waiting = []
    yield "".join(waiting)


# -- CSV ---------------------------------------------------------------------------------------------------------


_NUMBERS = (int, float, bool, type(None))


class _Line:
    """What csv.writer writes to: it hands the line back."""

    def write(self, line: str) -> str:
        return line


def _csv(headers: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    # All cells are quoted: a spreadsheet that splits at semicolons or tabs would find a formula inside a bare one.
    writer = csv.writer(_Line(), quoting=csv.QUOTE_ALL)
    yield writer.writerow(headers)
    for row in rows:
        yield writer.writerow([_text(value) if type(value) is str else _cell(value) for value in row])


def _cell(value: Any) -> Any:
    """Numbers as they are; text so that no spreadsheet takes it for a formula."""
    if type(value) in _NUMBERS:
        return value
    plain = _plain(value)
    if isinstance(plain, list | tuple):
        plain = ", ".join(map(str, plain))
    return _text(plain) if isinstance(plain, str) else plain


def _text(text: str) -> str:
    return "'" + text if text.lstrip(" ").startswith(_FORMULA) else text


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


# -- JSON --------------------------------------------------------------------------------------------------------


def _json(headers: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """A list of objects, one a line."""
    before = "[\n"
    for row in rows:
        yield before + json.dumps(dict(zip(headers, map(_plain, row), strict=True)), ensure_ascii=False)
        before = ",\n"
    yield "\n]\n" if before != "[\n" else "[]\n"


_FORMATS: dict[str, tuple[Callable[[Sequence[str], Iterable[Row]], Iterator[str]], str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "json": (_json, "application/json"),
}
