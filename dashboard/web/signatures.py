"""Signatures in lists: what was said, without where."""

_LINES = 2


def brief(signature: str | None) -> str:
    """Type and message of a signature, which stand before its stack frames; empty where nothing was said."""
    return ": ".join((signature or "").split("\n")[:_LINES])
