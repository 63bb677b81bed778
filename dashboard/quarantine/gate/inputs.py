"""What the gate knows of a run, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from analytics.runs.failing_tests import Excuse, Group
from dashboard.quarantine.policy.settings import FirstRuns


class Code(StrEnum):
    """Why a build may not pass."""

    KILLED_BY_SIGNAL = "killed_by_signal"
    EXIT_CODE_NOT_TESTS = "exit_code_not_tests"
    REPORT_MISSING = "report_missing"
    REPORT_PARTIAL = "report_partial"
    NOT_UNDERSTOOD = "not_understood"
    NOT_SENT = "not_sent"
    UPLOAD_FAILED = "upload_failed"
    RUN_ERRORS = "run_errors"
    FAILED_WITHOUT_FAILURES = "failed_without_failures"
    FEWER_FAILURES = "fewer_failures"
    CUT_SHORT = "cut_short"
    TOO_FEW_TESTS = "too_few_tests"
    SPLIT_INCOMPLETE = "split_incomplete"
    SELECTION_INCOMPLETE = "selection_incomplete"
    FIRST_OF_ITS_KIND = "first_of_its_kind"
    AMBIGUOUS_IDENTITY = "ambiguous_identity"
    QUARANTINE_EXPIRED = "quarantine_expired"
    NOT_QUARANTINED = "not_quarantined"
    TOO_MANY_EXCUSED = "too_many_excused"
    NOT_PROCESSED = "not_processed"


class Note(StrEnum):
    """What whoever reads the answer should know, and what decides nothing."""

    ONE_REQUEST = "one_request"
    FIRST_OF_ITS_KIND = "first_of_its_kind"
    SUCCEEDED_WITH_FAILURES = "succeeded_with_failures"
    SUCCEEDED_UNREAD = "succeeded_unread"
    SPLIT_INCOMPLETE = "split_incomplete"
    SELECTION_INCOMPLETE = "selection_incomplete"


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test whose last attempt failed."""

    number: int
    label: str
    group: Group = Group.NEW
    """What it is, for whoever reads the answer: it decides nothing."""
    ambiguous: bool = False
    """The report names it more than once, and nobody knows whether that is one test."""
    excuse: Excuse | None = None

    @property
    def quarantined(self) -> bool:
        return self.excuse is not None and not self.excuse.expired

    @property
    def blocks(self) -> bool:
        return not self.quarantined or self.ambiguous


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is known of a run when the gate is asked."""

    exit_code: int
    runner: str = "other"
    read: bool = True
    """At least one report could be read."""
    not_understood: Sequence[str] = ()
    """Sentences of the ledger: what is neither read nor known not to be test results."""
    unsent: Sequence[str] = ()
    """Sentences of the sender: what it could not find, read or send."""
    failed_uploads: int = 0
    """Uploads of the run that we could not process."""
    partial: bool = False
    run_errors: int = 0
    tests: int = 0
    executed: int = 0
    """Tests that were not skipped."""
    norm: int | None = None
    """Tests that such a run executes of late; None where there is too little to tell."""
    norm_of_its_kind: bool = True
    """The norm is that of the same job, shard and environment, and not of other runs with the same tests."""
    norm_of_splits: bool = False
    """What is executed, and the norm, are of the suites that this and earlier splits, or selections, are of."""
    unrun: Sequence[str] = ()
    """Names of tests that the stored split gives to this shard, or that were selected, and that the reports lack."""
    newly_skipped: int = 0
    """Tests of a listed run that were skipped, and that runs executed of late."""
    first_runs: FirstRuns = FirstRuns.WHOLE
    is_shard: bool = False
    ended_failing: bool = False
    """The order is known, and the last test that ran failed."""
    truncated: str = ""
    """Why the sender thinks that the runner may have stopped before its last test."""
    one_request: bool = False
    """Without a build id nothing tells which other uploads belong to the run."""
    failing: Sequence[FailingTest] = ()
    missing_share: float = 0.05
    exit_codes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    most_excused: int | None = None
    """What a fork sends may have so many failures excused: it could call any failure by a quarantined name."""

    @property
    def has_own_norm(self) -> bool:
        return self.norm is not None and self.norm_of_its_kind


@dataclass(frozen=True, slots=True)
class Reason:
    code: Code | Note
    sentence: str


@dataclass(frozen=True, slots=True)
class Decision:
    passed: bool
    sentence: str
    reasons: tuple[Reason, ...] = ()
    """Why it may not pass: none where it may."""
    notes: tuple[Reason, ...] = ()
