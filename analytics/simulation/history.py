"""A simulated history, readable as the window of an analysis or as uploads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from analytics.kernel.assembly import Assembly
from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.packages import packages_of
from analytics.kernel.suite_bounds import suite_of
from analytics.kernel.window import Attempts, Reports, SignatureRows, Window, no_attempts
from analytics.simulation.causes import is_error, words
from analytics.simulation.documents import Attempt, Case, write_files
from analytics.simulation.machine import SENT_AFTER, SimulatedReport, SimulatedRuns
from analytics.simulation.names import TestName
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Truth
from ingest.signature import signature_of
from ingest.vectors import RETRIED, decode_durations, encode_durations
from ingest.verdict import Verdict


@dataclass(frozen=True, slots=True)
class SimulatedUpload:
    """What CI sends after one run."""

    metadata: dict[str, Any]
    """In the form of `RunMetadata.from_json` and of the API's JSON part."""
    files: list[tuple[str, bytes]]
    received_at: datetime
    """By the server's clock."""


@dataclass(frozen=True)
class History:
    """The events of a simulated project, with their truth."""

    settings: Settings
    truth: Truth
    ran: SimulatedRuns = field(repr=False)
    every: Floats = field(repr=False)
    """Seconds, reports x tests."""
    attempt: Floats = field(repr=False)
    """Seconds of the attempts that `ran` notes."""

    @property
    def names(self) -> tuple[TestName, ...]:
        """By test number: suite, class, name and file."""
        return self.ran.cast.names.tests

    @property
    def reports(self) -> list[SimulatedReport]:
        return self.ran.reports

    # -- verdicts ------------------------------------------------------------------------------------------------

    @cached_property
    def _verdict(self) -> Ints:
        """Of the attempts that `ran` notes."""
        style = self.ran.cast.names.style
        failing = [Verdict.ERROR if is_error(cause, style) else Verdict.FAIL for cause in self.ran.causes]
        verdict = np.array([*failing, Verdict.PASS], dtype=np.int64)[self.ran.cause]
        return np.where(self._lost, int(Verdict.FAIL), verdict)

    @cached_property
    def _lost(self) -> Flags:
        """Of the attempts that `ran` notes: those that the report writes as passes because another one follows."""
        ran = self.ran
        if not self.settings.lost_attempts:
            return np.zeros(len(ran.number), dtype=bool)
        last = np.full((len(ran.reports), len(self.names)), -1, dtype=np.int64)
        last[ran.report, ran.number] = ran.ordinal  # rows are by ordinal: the last one stays
        return np.asarray(ran.ordinal < last[ran.report, ran.number])

    @cached_property
    def _vectors(self) -> "np.ndarray[Any, np.dtype[np.uint8]]":
        """Verdict and flags of every test in every report, as a report stores them."""
        ran = self.ran
        vectors = np.full(self.every.shape, int(Verdict.PASS), dtype=np.uint8)
        where = np.array([report.environment for report in ran.reports])
        vectors[where[:, None] == ran.cast.skipped] = Verdict.SKIP
        retried = RETRIED if self.settings.retries else 0
        vectors[ran.report, ran.number] = self._verdict | retried  # rows are by ordinal: the last attempt stays
        return vectors

    # -- as an analysis sees it ----------------------------------------------------------------------------------

    def window(self) -> Window:
        """The window that the loader would build from the uploads; test numbers are the simulator's."""
        ran, vectors = self.ran, self._vectors
        stored = decode_durations(encode_durations(self.every.ravel())).reshape(self.every.shape).astype(np.float32)
        signed, signatures = self._signed()
        assembly = Assembly(len(self.names), np.unique(signed.number), len(ran.reports))
        for report, numbers in enumerate(ran.present):
            assembly.add(report, numbers, vectors[report, numbers], stored[report, numbers])
        return assembly.build(
            self._reports(),
            self._attempts(),
            signed,
            suite=self._suites(),
            signatures=signatures,
            orders=tuple(ran.orders),
            excluded={},
            packages=packages_of(name for number in np.unique(signed.number) for name in self.names[number][:2]),
        )

    def _reports(self) -> Reports:
        reports = self.ran.reports
        nothing = np.zeros(len(reports), dtype=np.int64)
        return Reports(
            started=np.array([report.placed for report in reports], dtype=np.float64),
            revision=np.array([report.revision if self.settings.commits else -1 for report in reports], dtype=np.int64),
            environment=np.array([report.environment for report in reports], dtype=np.int64),
            host=np.array([report.host for report in reports], dtype=np.int64),
            run=np.arange(len(reports)),
            default_branch=np.array([self._on_default_branch(report) for report in reports], dtype=bool),
            pull_request=np.array([self._request(report) > 0 for report in reports], dtype=bool),
            branch=np.array([self._request(report) for report in reports], dtype=np.int64),
            order=np.array([report.order if report.order_stated else -1 for report in reports], dtype=np.int64),
            errors=nothing.astype(bool),
            executed=nothing,
            seconds=nothing.astype(np.float64),
            decided=nothing,
            kind=np.array([report.environment * (self.settings.shards + 1) + report.shard for report in reports]),
        )

    def _request(self, report: SimulatedReport) -> int:
        """The pull request that CI names; 0 for none."""
        return report.pull_request if self.settings.branch else 0

    def _on_default_branch(self, report: SimulatedReport) -> bool:
        """Whether it ran on the default branch, main; a run without a branch counts as such."""
        return not self.settings.branch or (self._request(report) == 0 and self.settings.branch == "main")

    def _attempts(self) -> Attempts:
        ran = self.ran
        if not self.settings.retries:
            return no_attempts()
        known = np.zeros(len(ran.number), dtype=bool)
        return Attempts(ran.number, ran.report, ran.ordinal, self._verdict, self.attempt, known)

    def _signed(self) -> tuple[SignatureRows, tuple[str, ...]]:
        """Failing executions; causes with the same text share a signature."""
        ran = self.ran
        texts_of = [words(cause, ran.cast.names, 0) for cause in ran.causes]
        texts = [signature_of(failure.type, failure.message, failure.text).text for failure in texts_of]
        texts += [signature_of("", "", "").text] if self.settings.lost_attempts else []
        different = list(dict.fromkeys(texts))
        code = np.array([different.index(text) for text in texts], dtype=np.int64)
        bad = ran.cause >= 0
        cause = np.where(self._lost, len(texts) - 1, ran.cause)[bad]
        return SignatureRows(ran.number[bad], ran.report[bad], ran.ordinal[bad], code[cause]), tuple(different)

    def _suites(self) -> Ints:
        suites = [suite_of(suite, classname) for suite, classname, *_ in self.names]
        return np.unique(suites, return_inverse=True)[1].astype(np.int64)

    # -- as CI sends it ------------------------------------------------------------------------------------------

    def uploads(self) -> Iterator[SimulatedUpload]:
        """The uploads of CI, run by run."""
        bounds = np.searchsorted(self.ran.report, np.arange(len(self.reports) + 1))
        for place, report in enumerate(self.reports):
            noted = self._noted(place, range(bounds[place], bounds[place + 1]))
            cases = self._cases(place, self.ran.orders[report.order], noted)
            metadata = self._metadata(report)
            started = datetime.fromtimestamp(report.clock, UTC)
            files = write_files(self.ran.cast.names.style, cases, started, metadata["host"], serial=report.order_stated)
            yield SimulatedUpload(metadata, files, datetime.fromtimestamp(report.started + SENT_AFTER, UTC))

    def _noted(self, place: int, rows: range) -> dict[int, list[Attempt]]:
        """Attempts of the report's tests that failed at first."""
        ran, found = self.ran, dict[int, list[Attempt]]()
        for row in rows:
            number, cause = int(ran.number[row]), int(ran.cause[row])
            salt = place * 1_009 + number * 31 + int(ran.ordinal[row])
            failure = words(ran.causes[cause], ran.cast.names, salt) if cause >= 0 else None
            found.setdefault(number, []).append(Attempt(float(self.attempt[row]), failure))
        return found

    def _cases(self, place: int, order: Ints, noted: dict[int, list[Attempt]]) -> list[Case]:
        """The report's tests in order of execution."""
        seconds, skipped = self.every[place].tolist(), (self._vectors[place] == Verdict.SKIP).tolist()
        return [
            Case(self.names[number], seconds[number], skipped[number], noted.get(number, []))
            for number in order.tolist()
        ]

    def _metadata(self, report: SimulatedReport) -> dict[str, Any]:
        settings, environment = self.settings, self.settings.environments[report.environment]
        request = self._request(report)
        metadata = {
            "commit": self._hash("commit", report.commit) if settings.commits else "",
            "tree": self._hash("tree", report.revision) if settings.commits else "",
            "branch": f"change-{request}" if request else settings.branch,
            "pull_request": str(request or ""),
            "build_id": str(1_000 + report.build),
            "attempt": report.attempt,
            "job": "unit tests",
            "shard": f"{report.shard}/{settings.shards}" if report.shard else "",
            "environment": {"os": environment},
            "host": f"{environment}-{report.host}",
            "started_at": datetime.fromtimestamp(report.clock, UTC).isoformat(),
            "order": "executed" if report.order_stated else "",
        }
        return {name: value for name, value in metadata.items() if value != ""}

    def _hash(self, what: str, number: int) -> str:
        return blake2b(f"{self.settings.seed} {what} {number}".encode(), digest_size=20).hexdigest()
