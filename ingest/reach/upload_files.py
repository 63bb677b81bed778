"""Takes the files of reach, and of changes, of an upload as they pass. Pure.

They travel beside the reports. Whatever is wrong with one, no report is harmed by it, and the gate neither passes nor
holds for its sake."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from flakeboard.reach.limits import ReachLimits

from ingest.junit.archives.unpacking import DAMAGE, Member
from ingest.junit.problems import Refused, Warnings
from ingest.junit.result_marks import MARKUP
from ingest.junit.upload import FileOutcome
from ingest.reach.change_file import Change, is_change, read_change
from ingest.reach.reach_file import MALFORMED, ReachFile, is_reach, read_reach

REACH, CHANGES = "reach", "changes"
_HEAD = 256
_CHUNK = 1024 * 1024
_MOST_FILES = 256
"""Files of reach that one upload may have: one a worker."""


@dataclass(slots=True)
class UploadReach:
    limits: ReachLimits = field(default_factory=ReachLimits)
    words: Callable[[str], str] = str
    """What becomes of paths and names: redaction, the same for what was used and what changed."""
    files: list[ReachFile] = field(default_factory=list)
    warnings: list[Warnings] = field(default_factory=list)
    """Of each file of reach, in the order of their outcomes."""
    change: Change | None = None

    def __call__(self, member: Member) -> FileOutcome | None:
        """The outcome of a file that is no report; None unless it begins like one of these."""
        kind = ""
        try:
            first = b"" if member.error is not None else member.open().read_exactly(_HEAD)
            kind = REACH if is_reach(first) else CHANGES if is_change(first) else ""
            if not kind:
                return None
            self._read(member, kind)
        except Refused as refusal:
            if not kind:
                return None
            return FileOutcome(member.name, None, refusal, other="" if _holds_results(member) else kind)
        except DAMAGE as error:
            refused = Refused("archive_damaged", f"The file cannot be read: {error}.")
            return FileOutcome(member.name, None, refused, other=kind)
        return FileOutcome(member.name, None, None, other=kind)

    def _read(self, member: Member, kind: str) -> None:
        stream = io.BufferedReader(member.open(), _CHUNK)
        if kind == CHANGES:
            change = read_change(stream.read(self.limits.changed_bytes + 1), self.limits)
            if self.change is None or self.change.unknown:
                self.change = change
            return
        if len(self.files) >= _MOST_FILES:
            raise Refused("limit_reach", f"An upload has room for {_MOST_FILES} files of reach.")
        found = read_reach(iter(lambda: stream.readline(self.limits.line + 1), b""), self.limits)
        if not found.is_whole and _holds_results(member):
            raise Refused(MALFORMED, "The file of reach ends with something else.")
        self.files.append(found)
        self.warnings.append(Warnings())


def _holds_results(member: Member) -> bool:
    """Whether a refused file has marks of test results in it, as if a report had been appended to it."""
    tail = b""
    try:
        stream = member.open()
        while chunk := stream.read(_CHUNK):
            if MARKUP.search(tail + chunk):
                return True
            tail = (tail + chunk)[-_HEAD:]
    except (Refused, *DAMAGE):
        return False
    return False


def digest_of(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
