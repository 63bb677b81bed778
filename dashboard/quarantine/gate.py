"""The gate: may this red build pass? Everything that is known in, a decision with its reasons out. Pure.

It is closed unless everything speaks for opening it: each line of the contract is a check of its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dashboard.quarantine.runners import failed_codes, signal_of

_NAMED = 3
"""So many tests are named in a sentence."""


class Code(StrEnum):
    """Why a build may not pass."""

    KILLED_BY_SIGNAL = "killed_by_signal"
    EXIT_CODE_NOT_TESTS = "exit_code_not_tests"
    REPORT_MISSING = "report_missing"
    REPORT_PARTIAL = "report_partial"
    RUN_ERRORS = "run_errors"
    FAILED_WITHOUT_FAILURES = "failed_without_failures"
    CUT_SHORT = "cut_short"
    TOO_FEW_TESTS = "too_few_tests"
    AMBIGUOUS_IDENTITY = "ambiguous_identity"
    QUARANTINE_EXPIRED = "quarantine_expired"
    NOT_QUARANTINED = "not_quarantined"
    TOO_MANY_EXCUSED = "too_many_excused"
    NOT_PROCESSED = "not_processed"


class Known(StrEnum):
    """What is known of a failing test."""

    NEW = "new"
    FLAKY = "flaky"
    BROKEN = "broken"
    QUARANTINED = "quarantined"
    INCIDENT = "incident"


@dataclass(frozen=True, slots=True)
class Excuse:
    """A quarantine of the test whose scope the run is in."""

    quarantine: int
    expired: bool = False


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test whose last attempt failed."""

    number: int
    label: str
    known: Known = Known.NEW
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
    unreadable: int = 0
    """Reports that could not be read."""
    partial: bool = False
    run_errors: int = 0
    tests: int = 0
    executed: int = 0
    """Tests that were not skipped."""
    norm: int | None = None
    """Tests that such a run executes of late; None where there is too little to tell."""
    ended_failing: bool = False
    """The order is known, and the last test that ran failed."""
    failing: Sequence[FailingTest] = ()
    missing_share: float = 0.05
    exit_codes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    most_excused: int | None = None
    """What a fork sends may have so many failures excused: it could call any failure by a quarantined name."""


@dataclass(frozen=True, slots=True)
class Reason:
    code: Code
    sentence: str


@dataclass(frozen=True, slots=True)
class Decision:
    passed: bool
    sentence: str
    reasons: tuple[Reason, ...] = ()


def decide(inputs: Inputs) -> Decision:
    """Pass only where nothing speaks against it. A build that did not fail passes as it is."""
    if inputs.exit_code == 0:
        return Decision(True, f"The command succeeded: nothing to excuse. {_counted(inputs)}".strip())
    reasons = tuple(_reasons(inputs))
    return Decision(not reasons, _sentence(inputs, passed=not reasons, untrusted=_untrusted(reasons)), reasons)


def undecided() -> Decision:
    """The answer while the upload is not processed."""
    sentence = "The report is not processed yet: ask again for the decision."
    return Decision(False, sentence, (Reason(Code.NOT_PROCESSED, sentence),))


# -- what speaks against it --------------------------------------------------------------------------------------


def _reasons(inputs: Inputs) -> Iterator[Reason]:
    yield from _exit(inputs)
    if not inputs.read:
        yield Reason(Code.REPORT_MISSING, "No report could be read: nothing tells what failed.")
        return
    yield from _report(inputs)
    yield from _whole(inputs)
    yield from _tests(inputs)


def _exit(inputs: Inputs) -> Iterator[Reason]:
    signal, codes = signal_of(inputs.exit_code), failed_codes(inputs.runner, inputs.exit_codes)
    if signal is not None:
        yield Reason(Code.KILLED_BY_SIGNAL, f"The runner was killed by signal {signal}: it did not finish.")
    elif inputs.exit_code not in codes:
        wanted = " or ".join(map(str, codes))
        sentence = f"{inputs.runner} exits with {wanted} when tests fail; {inputs.exit_code} means something else."
        yield Reason(Code.EXIT_CODE_NOT_TESTS, sentence)


def _report(inputs: Inputs) -> Iterator[Reason]:
    if inputs.unreadable:
        files = "1 report" if inputs.unreadable == 1 else f"{inputs.unreadable:,} reports"
        yield Reason(Code.REPORT_PARTIAL, f"{files} could not be read: what failed there is not known.")
    if inputs.partial:
        yield Reason(Code.REPORT_PARTIAL, "A report is damaged: what came after the damage is not known.")
    if inputs.run_errors:
        what = "1 thing" if inputs.run_errors == 1 else f"{inputs.run_errors:,} things"
        yield Reason(Code.RUN_ERRORS, f"{what} besides tests failed, such as a build, a collection or a hook.")
    if not inputs.failing:
        yield Reason(Code.FAILED_WITHOUT_FAILURES, f"The runner exited with {inputs.exit_code}, but no test failed.")


def _whole(inputs: Inputs) -> Iterator[Reason]:
    """Whether all tests ran: those that did not may fail too."""
    norm = inputs.norm
    if norm is not None and inputs.ended_failing and inputs.executed < norm:
        sentence = f"It ended with a failing test after {inputs.executed:,} of about {norm:,}: it stopped there."
        yield Reason(Code.CUT_SHORT, sentence)
    if norm is not None and inputs.executed < norm * (1 - inputs.missing_share):
        sentence = f"{inputs.executed:,} tests ran; such runs have {norm:,} of late."
        yield Reason(Code.TOO_FEW_TESTS, sentence)


def _tests(inputs: Inputs) -> Iterator[Reason]:
    expired = [one for one in inputs.failing if one.excuse is not None and one.excuse.expired]
    unknown = [one for one in inputs.failing if one.excuse is None]
    ambiguous = [one for one in inputs.failing if one.quarantined and one.ambiguous]
    if ambiguous:
        sentence = f"{_names(ambiguous)}: several results of one name, and it is not known which test that is."
        yield Reason(Code.AMBIGUOUS_IDENTITY, sentence)
    if expired:
        yield Reason(Code.QUARANTINE_EXPIRED, f"{_names(expired)} failed, and the quarantine has expired.")
    if unknown:
        yield Reason(Code.NOT_QUARANTINED, f"{_names(unknown)} failed without being quarantined here.")
    excused = sum(not one.blocks for one in inputs.failing)
    if inputs.most_excused is not None and excused > inputs.most_excused:
        most = inputs.most_excused
        sentence = f"{excused:,} failures are quarantined; of what a fork sends, {most:,} may be excused."
        yield Reason(Code.TOO_MANY_EXCUSED, sentence)


def _names(tests: Sequence[FailingTest]) -> str:
    named = ", ".join(one.label for one in tests[:_NAMED])
    return named if len(tests) <= _NAMED else f"{named} and {len(tests) - _NAMED:,} more"


# -- in one sentence ---------------------------------------------------------------------------------------------

_OF_TESTS = frozenset({Code.NOT_QUARANTINED, Code.QUARANTINE_EXPIRED, Code.AMBIGUOUS_IDENTITY, Code.TOO_MANY_EXCUSED})


def _untrusted(reasons: Sequence[Reason]) -> bool:
    return any(reason.code not in _OF_TESTS for reason in reasons)


def _sentence(inputs: Inputs, *, passed: bool, untrusted: bool) -> str:
    if not inputs.failing:
        return "The build failed for another reason than its tests." if inputs.read else "No report could be read."
    excused = sum(not one.blocks for one in inputs.failing)
    blocking = len(inputs.failing) - excused
    if passed:
        return f"{_counted(inputs)}, and {'it is' if excused == 1 else 'all are'} quarantined: the build may pass."
    parts = [f"{excused:,} {'is' if excused == 1 else 'are'} quarantined"] if excused else []
    parts += [f"{blocking:,} {'blocks' if blocking == 1 else 'block'}"] if blocking else []
    told = f"{_counted(inputs)}: {', '.join(parts)}"
    return f"{told}, and the report cannot be trusted." if untrusted else f"{told}."


def _counted(inputs: Inputs) -> str:
    if not inputs.failing:
        return ""
    return f"{len(inputs.failing):,} of {inputs.tests:,} tests failed"
