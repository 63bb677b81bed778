"""Names of attachments, and where reports mention them. Pure.

A name is a label: it is compared with what reports say and shown, and never used as a path."""

import re
import unicodedata

LONGEST = 400
_MARK = re.compile(r"\[\[ATTACHMENT\|([^\]\r\n]{1,2000})\]\]")
_MOST_MARKS = 1_000


def marks_in(text: str) -> list[str]:
    """Names of the files that a text mentions."""
    found = (match[1] for match, _ in zip(_MARK.finditer(text), range(_MOST_MARKS), strict=False))
    return list(dict.fromkeys(filter(None, map(attachment_name, found))))


def attachment_name(written: str) -> str:
    """A path as a name: its steps joined by `/`, without any that lead elsewhere; empty where nothing is left."""
    shown = "".join(letter for letter in unicodedata.normalize("NFC", written) if letter.isprintable())
    steps = [step.strip() for step in re.split(r"[/\\]", shown)]
    kept = [step for step in steps if step not in ("", ".", "..") and not re.fullmatch(r"[A-Za-z]:", step)]
    name = "/".join(kept).encode("utf-8", "replace").decode("utf-8")
    return name if len(name) <= LONGEST else name[-LONGEST:].lstrip("/")


def is_same_file(name: str, other: str) -> bool:
    """Whether two names may be of one file: reports write it from the root, CI from its folder, or the other way."""
    longer, shorter = sorted((name, other), key=len, reverse=True)
    return longer == shorter or longer.endswith(f"/{shorter}")
