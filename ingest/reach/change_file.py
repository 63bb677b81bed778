"""Reads the description of a change: files and functions that differ from a base, without any content. Pure."""

import json
import zlib
from dataclasses import dataclass
from typing import Any

from flakeboard.reach.form import CHANGES_VERSION
from flakeboard.reach.limits import LIMITS, ReachLimits
from flakeboard.traces.checks import Wrong, check_depth, list_of, number_of, parsed

from ingest.junit.problems import Refused

MALFORMED, UNKNOWN_VERSION, LIMIT = "changes_malformed", "changes_version", "limit_changes"
_STATUSES = frozenset("AMD")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    path: str
    status: str
    """`A` added, `D` deleted, `M` modified."""
    functions: frozenset[str] = frozenset()
    """Qualified names of functions whose bodies changed."""
    outside: bool = False
    """Something changed that runs when the module is imported."""

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")


@dataclass(frozen=True, slots=True)
class Change:
    base: str = ""
    head: str = ""
    files: tuple[ChangedFile, ...] = ()
    unknown: str = ""
    """Why nobody knows what changed."""

    def packed(self) -> bytes:
        rows = [[file.path, file.status, sorted(file.functions), file.outside] for file in self.files]
        return zlib.compress(json.dumps(rows, separators=(",", ":")).encode())


def is_change(first: bytes) -> bool:
    """Whether a file that begins so describes a change."""
    return first.lstrip()[:24].replace(b" ", b"").startswith(b'{"flakeboard_changes"')


def read_change(content: bytes, limits: ReachLimits = LIMITS) -> Change:
    """The change; raises Refused."""
    if len(content) > limits.changed_bytes:
        raise Refused(LIMIT, f"The description of the change has more than {limits.changed_bytes:,} bytes.")
    try:
        body = parsed(content)
        check_depth(body, limits.depth)
        if body.get("flakeboard_changes") != CHANGES_VERSION:
            raise Refused(UNKNOWN_VERSION, "This version of the description of a change is not known.")
        return _change(body, limits)
    except Wrong as wrong:
        raise Refused(MALFORMED, f"The description of the change is refused: {wrong}.") from None


def _change(body: dict[str, Any], limits: ReachLimits) -> Change:
    unknown = _text(body.get("unknown", ""), limits)
    if unknown:
        return Change(unknown=unknown)
    base, head = (_text(body.get(name, ""), limits) for name in ("base", "head"))
    if not base or len(base) > 64 or len(head) > 64:
        raise Wrong("a base that is no commit")
    rows = list_of(body.get("files", []))
    if len(rows) > limits.changed_files:
        return Change(base, head, unknown=f"{len(rows):,} files changed, more than {limits.changed_files:,}")
    ranges = 0
    files = []
    for row in rows:
        if not isinstance(row, dict):
            raise Wrong("a file that is none")
        spans = list_of(row.get("ranges", []))
        ranges += len(spans)
        for span in spans:
            if len(list_of(span)) != 4:
                raise Wrong("a range has four numbers")
            for number in span:
                number_of(number)
        files.append(_file(row, limits))
    if ranges > limits.changed_ranges:
        return Change(base, head, unknown=f"more than {limits.changed_ranges:,} parts changed")
    return Change(base, head, tuple(files))


def _file(row: dict[str, Any], limits: ReachLimits) -> ChangedFile:
    path, status, outside = _text(row.get("path"), limits), row.get("status"), row.get("outside", False)
    if not path or not isinstance(status, str) or status not in _STATUSES:
        raise Wrong("a file without a path, or of no known status")
    if not isinstance(outside, bool):
        raise Wrong("outside is true or false")
    functions = frozenset(_text(name, limits) for name in list_of(row.get("functions", [])))
    return ChangedFile(path, str(status), functions, outside)


def _text(text: Any, limits: ReachLimits) -> str:
    if not isinstance(text, str) or len(text) > limits.text:
        raise Wrong(f"a text that is none, or longer than {limits.text} characters")
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def unpacked(content: bytes | memoryview) -> tuple[ChangedFile, ...]:
    """The files of a stored change."""
    rows = json.loads(zlib.decompress(bytes(content)))
    return tuple(ChangedFile(path, status, frozenset(functions), outside) for path, status, functions, outside in rows)
