"""Reads a whole upload: every file in its parts, read or refused, and the report of all that was read."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from ingest.junit.archives.unpacking import DAMAGE, Budget, Member, MeteredStream, unpack
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.junit.merging import Merger
from ingest.junit.not_results import not_results
from ingest.junit.problems import Refused
from ingest.junit.reading import read_report
from ingest.junit.report import ParsedReport

DIGEST_BYTES = 8
"""Bytes of a file's SHA-256 that identify it among the files of its run."""

READ, NOT_RESULTS, NOT_UNDERSTOOD = "read", "not_results", "not_understood"
ACCOUNTS = (READ, NOT_RESULTS, NOT_UNDERSTOOD)
"""The possible fates of a file: read, certainly no results by its content, or not understood."""

Part = tuple[str, BinaryIO]
"""A name and a seekable stream: one file of a multipart upload, or a raw body."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """The outcome of one file."""

    name: str
    report: ParsedReport | None
    error: Refused | None
    other: str = ""
    """What it is in place of results, if that is known: probes of an experiment, or a trace."""

    @property
    def kind(self) -> str:
        if self.other:
            return self.other
        if self.report is not None:
            return "junit"
        assert self.error is not None
        other = ("not_results", "other_format", "html_page", "other_xml", "not_xml", "empty")
        return self.error.code if self.error.code in other else "refused"

    @property
    def account(self) -> str:
        """The file's account in the ledger, one of `ACCOUNTS`."""
        if self.error is None:
            return READ
        return NOT_RESULTS if self.other or self.error.code == "not_results" else NOT_UNDERSTOOD

    def as_dict(self) -> dict[str, Any]:
        """One flat object, as `inspect` prints and the API returns it."""
        report = self.report if self.report is not None else ParsedReport(producer="")
        return {
            "path": _label(self.name),
            "kind": self.kind,
            "account": self.account,
            "producer": report.producer,
            "suites": len(report.suites),
            **report.counts(),
            "order_reliable": report.order_reliable,
            "partial": report.partial,
            "ended_failing": report.ended_failing,
            "run_errors": len(report.run_errors),
            "not_understood": [unclear.as_dict() for unclear in report.not_understood],
            "warnings": [warning.as_dict() for warning in report.warnings],
            "error": self.error.as_dict() if self.error else None,
        }


def account_of(file: dict[str, Any]) -> str:
    """The account of a stored file; for one from before the ledger, by whether it was read."""
    return str(file.get("account") or (NOT_UNDERSTOOD if file.get("error") else READ))


def stored_file(file: dict[str, Any]) -> dict[str, Any]:
    """A stored file with all its values: those of which there was nothing to say are not stored."""
    return {**_NOTHING, **file, "account": account_of(file)}


def ledger_of(files: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How many stored files became what, and how many things inside those that were read are unclear."""
    counts = {**dict.fromkeys(ACCOUNTS, 0), "unclear": 0}
    for file in files:
        counts[account_of(file)] += 1
        counts["unclear"] += sum(line["count"] for line in file.get("not_understood", ()))
    return counts


def _label(name: str) -> str:
    """A file's name as text that can be stored and shown, whatever bytes an archive gave it."""
    return name.encode("utf-8", "replace").decode("utf-8").replace("\0", "")[:1_000]


_NOTHING = FileOutcome("", ParsedReport(producer=""), None).as_dict()
"""Every value of a file of which there is nothing to say."""


@dataclass(slots=True)
class UploadReading:
    """All files of an upload, and what they make: one report, or one of each worker."""

    reports: list[ParsedReport]
    files: list[dict[str, Any]] = field(default_factory=list)
    read: int = 0
    new: int = 0
    """Files that were read and are not in the run already."""

    @property
    def report(self) -> ParsedReport:
        """The only report; the first worker's where there are several."""
        return self.reports[0]

    @property
    def hostname(self) -> str:
        """The host that the first report names."""
        return self.reports[0].hostname if self.reports else ""

    @property
    def browsers(self) -> set[str]:
        return set().union(*(report.browsers for report in self.reports))

    @property
    def started_at(self) -> datetime | None:
        """The earliest start that a report tells."""
        return min((report.started_at for report in self.reports if report.started_at is not None), default=None)

    @property
    def first_error(self) -> dict[str, Any] | None:
        return next((file["error"] for file in self.files if file["error"]), None)


class _DigestingStream:
    """Passes reads through and hashes what is read."""

    def __init__(self, stream: MeteredStream) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.digest.update(data)
        return data


Reader = Callable[[Member], FileOutcome | None]
"""Reads a file that is no report; None leaves it to the reader of reports."""


def read_files(
    parts: Iterable[Part], limits: Limits, other: Reader | None = None, refused: Reader | None = None
) -> Iterator[FileOutcome]:
    """Every file of an upload in turn. One bad file does not lose the others; an empty archive is a bad file.

    `other` is asked before a file is read as a report, `refused` after it was refused as one."""
    budget, share = Budget(limits), Share(limits.text_total)
    for name, source in parts:
        member = None
        try:
            for member in unpack(name, source, budget):
                outcome = (other(member) if other else None) or _read_member(member, limits, share)
                yield (refused(member) if refused and outcome.error is not None else None) or outcome
            if member is None:
                raise Refused("empty", "The archive holds no file.")
        except Refused as refusal:
            yield FileOutcome(name, None, refusal)
        except DAMAGE as error:
            yield FileOutcome(name, None, Refused("archive_damaged", f"The archive cannot be read: {error}."))


def _read_member(member: Member, limits: Limits, share: Share) -> FileOutcome:
    opened: list[_DigestingStream] = []

    def open_again() -> BinaryIO:
        opened.append(_DigestingStream(member.open()))
        return opened[-1]  # type: ignore[return-value]

    try:
        report = read_report(open_again, limits, share)
    except Refused as refusal:
        return FileOutcome(member.name, None, _known_otherwise(member, refusal) or refusal)
    except DAMAGE as error:
        sentence = f"The file's compressed data cannot be read: {error}."
        return FileOutcome(member.name, None, Refused("archive_damaged", sentence))
    report.content_digests = [opened[-1].digest.digest()[:DIGEST_BYTES]]
    return FileOutcome(member.name, report, None)


def _known_otherwise(member: Member, refusal: Refused) -> Refused | None:
    """The refusal of a file that certainly holds no results; None if its content is unknown."""
    try:
        known = None if member.error else not_results(member.open(), named=refusal.code != "not_xml")
    except (Refused, *DAMAGE):
        return None
    return Refused("not_results", f"This is {known}: it holds no test results.") if known else None


EXPERIMENT = "flakeboard.experiment"
"""The property by which a file says that it is of an experiment."""


def _without_experiment(outcome: FileOutcome) -> FileOutcome:
    """Refuse an experiment's order among results of CI: counted there, it would enter every statistic."""
    if outcome.report is None or EXPERIMENT not in outcome.report.properties:
        return outcome
    sentence = (
        "This is an order of an experiment, which never counts as CI: send it by `flakeboard upload --experiment`."
    )
    return FileOutcome(outcome.name, None, Refused("experiment_result", sentence))


def read_upload(
    parts: Iterable[Part],
    limits: Limits | None = None,
    known: frozenset[bytes] = frozenset(),
    refused: Reader | None = None,
) -> UploadReading:
    """Read an upload. Files whose digest is `known` are in the run already; `refused` gets what is no report."""
    limits = limits or Limits()
    merger, outcomes = Merger(limits.attempts, known), []
    read = new = 0
    for outcome in map(_without_experiment, read_files(parts, limits, refused=refused)):
        if outcome.report is not None:
            read += 1
            if merger.add(outcome.name, outcome.report):
                new += 1
            else:
                outcome.report.warnings.add("known_file", "The run has this file already; it is counted once.")
        outcomes.append(outcome.as_dict())
    reports = merger.reports()
    first = next((file for file in outcomes if file["account"] == READ), None)
    if first is not None:
        first["warnings"] += [warning.as_dict() for warning in merger.warnings]
    return UploadReading(reports, outcomes, read, new)
