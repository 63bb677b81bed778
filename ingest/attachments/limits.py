"""How much may be attached to one upload. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AttachmentLimits:
    bytes: int = 20_000_000
    """Of one file."""
    files: int = 200
    total: int = 100_000_000
    """Bytes of all files of an upload."""
    pixels: int = 40_000_000
    """Of a picture that a page shows: a browser takes four bytes for each, however small the file is."""
    preview: int = 3_000_000
    """Bytes of a picture that a page shows; larger ones are downloads."""
