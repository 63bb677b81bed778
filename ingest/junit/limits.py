"""The reader's limits. Each is a setting; an error names the exceeded one and its value."""

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    bytes_in: int = 200 * MEBIBYTE
    """Bytes of one upload as it arrives, compressed or not."""
    bytes_out: int = 512 * MEBIBYTE
    """Bytes of one upload after decompression, all its files together."""
    ratio: int = 200
    """Bytes out per byte in, judged once more than `ratio_floor` bytes have come out."""
    ratio_floor: int = 10 * MEBIBYTE
    files: int = 2_000
    """Files in one archive or one upload."""
    cases: int = 1_000_000
    """Test cases in one file."""
    depth: int = 64
    """Nesting of elements."""
    attributes: int = 256
    """Attributes of one element."""
    markup: int = 8 * MEBIBYTE
    """Bytes of one tag or comment, so also of one attribute."""
    attempts: int = 100
    """Attempts kept of one test in one report."""
    text_kept: int = 64 * 1024
    """Characters kept of one failure's text, and of each of its captured outputs."""
    text_total: int = 64 * MEBIBYTE
    """Characters of failure text and output kept of one upload; past it only messages are kept."""
