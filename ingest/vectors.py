"""numpy <-> bytea: a report's verdicts, durations and order, and a roster's members.

Rows of a report's vectors follow its roster: ascending test numbers."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from ingest.verdict import Verdict

Numbers = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

# -- one byte a test: two bits of verdict, then flags ------------------------------------------------------------

VERDICT_MASK = 0b0000_0011
RETRIED = 0b0000_0100
"""The test has several attempts, kept as rows."""
AMBIGUOUS = 0b0000_1000
"""It is not known whether they are attempts of one test."""


def verdicts_of(vector: Bytes) -> Bytes:
    return np.bitwise_and(vector, np.uint8(VERDICT_MASK))


def verdict_of(byte: int) -> Verdict:
    return Verdict(byte & VERDICT_MASK)


# -- two bytes a test: duration on a log scale -------------------------------------------------------------------

_UNKNOWN, _ZERO = 0, 1
_LEAST = 1e-6
_MOST = 1e7
_STEPS = 65_533
_SCALE = _STEPS / np.log(_MOST / _LEAST)
"""65,533 steps over 13 decades: neighbours differ by 0.046 %."""


def encode_durations(seconds: Floats) -> bytes:
    """Seconds as little-endian uint16: 0 unknown (NaN), 1 below a microsecond, then a logarithmic scale."""
    known = np.nan_to_num(seconds, nan=-1.0)
    clipped = np.clip(known, _LEAST, _MOST)
    codes = 2 + np.rint(np.log(clipped / _LEAST) * _SCALE).astype(np.int64)
    codes[(known >= 0) & (known < _LEAST)] = _ZERO
    codes[known < 0] = _UNKNOWN
    return bytes(codes.astype("<u2").tobytes())


def decode_durations(stored: bytes | memoryview) -> Floats:
    """Seconds; NaN if unknown."""
    codes = np.frombuffer(stored, dtype="<u2")
    seconds: Floats = _LEAST * np.exp((codes.astype(np.float64) - 2) / _SCALE)
    seconds[codes == _ZERO] = 0.0
    seconds[codes == _UNKNOWN] = np.nan
    return seconds


# -- a roster's members: a bitmap or a list, whichever is smaller ------------------------------------------------

LIST = 0
BITMAP = 1


@dataclass(frozen=True, slots=True)
class Members:
    """How a roster's ascending test numbers are stored."""

    form: int
    base: int
    """The lowest number, rounded down to a multiple of eight: bit 0 of a bitmap's first byte."""
    data: bytes


def encode_members(numbers: Numbers) -> Members:
    if not len(numbers):
        return Members(LIST, 0, b"")
    base = int(numbers[0]) & ~7
    span = int(numbers[-1]) - base + 1
    if span <= 32 * len(numbers):
        bits = np.zeros(-(-span // 8) * 8, dtype=np.uint8)
        bits[numbers - base] = 1
        return Members(BITMAP, base, np.packbits(bits, bitorder="little").tobytes())
    return Members(LIST, base, numbers.astype("<i4").tobytes())


def decode_members(form: int, base: int, data: bytes | memoryview) -> Numbers:
    if form == LIST:
        return np.frombuffer(data, dtype="<i4").astype(np.int32)
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")
    return (np.flatnonzero(bits) + base).astype(np.int32)


def members_digest(numbers: Numbers) -> bytes:
    return blake2b(numbers.astype("<i4").tobytes(), digest_size=16).digest()


# -- orders: permutations of a roster's rows ---------------------------------------------------------------------


def encode_order(rows: Numbers) -> bytes:
    """Rows in order of execution; empty for the roster's own order."""
    if np.array_equal(rows, np.arange(len(rows))):
        return b""
    return rows.astype("<u2" if len(rows) <= 65_536 else "<u4").tobytes()


def decode_order(stored: bytes | memoryview, size: int) -> Numbers:
    if not len(stored):
        return np.arange(size, dtype=np.int32)
    return np.frombuffer(stored, dtype="<u2" if size <= 65_536 else "<u4").astype(np.int32)


def order_digest(numbers: Numbers) -> int:
    """A 63-bit digest of test numbers in order of execution, to group reports by."""
    digest = blake2b(numbers.astype("<i4").tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
