"""How sets of names, and the columns of a run's reach, are stored. Pure."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_FORMS: dict[int, np.dtype[Any]] = {1: np.dtype("<u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}


def encode_set(members: Ints) -> bytes:
    """Ascending numbers as differences, in as few bytes each as the largest needs, deflated where that helps."""
    gaps = np.diff(members, prepend=np.int64(0))
    largest = int(gaps.max(initial=0))
    width = next(width for width in _FORMS if largest < 256**width)
    plain = gaps.astype(_FORMS[width]).tobytes()
    deflated = zlib.compress(plain, 9)
    return bytes([width]) + plain if len(plain) <= len(deflated) else bytes([width | 0x80]) + deflated


def decode_set(content: bytes | memoryview) -> Ints:
    stored = bytes(content)
    plain = zlib.decompress(stored[1:]) if stored[0] & 0x80 else stored[1:]
    return np.cumsum(np.frombuffer(plain, dtype=_FORMS[stored[0] & 0x7F]).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Columns:
    """A row a test, ascending by number."""

    tests: Ints
    """Numbers of tests."""
    own: Ints
    """Ids of the sets of what they used."""
    imports: Ints
    """Ids of the sets of what their files import; 0 where that is not known."""
    reasons: Ints
    """Why a set is not complete, by `reach_file.REASONS`; 0 where it is."""
    sources: Ints
    """Categories of sources, as bits of `models.SOURCES`."""

    def encoded(self) -> bytes:
        parts = ((self.tests, "<i4"), (self.own, "<i8"), (self.imports, "<i8"), (self.reasons, "<u1"))
        columns = [column.astype(kind).tobytes() for column, kind in (*parts, (self.sources, "<u2"))]
        return zlib.compress(b"".join(columns), 6)


def decode_columns(content: bytes | memoryview, tests: int) -> Columns:
    plain, columns, at = zlib.decompress(bytes(content)), [], 0
    for kind in ("<i4", "<i8", "<i8", "<u1", "<u2"):
        size = np.dtype(kind).itemsize * tests
        columns.append(np.frombuffer(plain[at : at + size], dtype=kind).astype(np.int64))
        at += size
    return Columns(*columns)
