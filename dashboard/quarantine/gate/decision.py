"""The gate: may this red build pass? Everything that is known in, a decision with its reasons out. Pure.

It is closed unless everything speaks for opening it: each line of the law in docs/security.md is a check of its own.
Adding something to what is known, or damaging it, can add reasons and never take one away."""

from collections.abc import Iterator, Sequence

from dashboard.quarantine.gate.inputs import Code, Decision, FailingTest, Inputs, Note, Reason
from dashboard.quarantine.gate.runners import counted_failures, failed_codes, signal_of
from dashboard.quarantine.policy.settings import FirstRuns

_NAMED = 3
"""So many tests, or things that were not understood, are named in a sentence."""


def decide(inputs: Inputs) -> Decision:
    """Pass only where nothing speaks against it. A build that did not fail passes as it is."""
    notes = tuple(_notes(inputs))
    if inputs.exit_code == 0:
        sentence = f"The command succeeded: nothing to excuse. {_counted(inputs)}".strip()
        return Decision(True, sentence, notes=notes)
    reasons = tuple(_reasons(inputs))
    sentence = _sentence(inputs, passed=not reasons, untrusted=_untrusted(reasons))
    return Decision(not reasons, sentence, reasons, notes)


def undecided() -> Decision:
    """The answer while the upload is not processed."""
    sentence = "The report is not processed yet: ask again for the decision."
    return Decision(False, sentence, (Reason(Code.NOT_PROCESSED, sentence),))


# -- what speaks against it --------------------------------------------------------------------------------------


def _reasons(inputs: Inputs) -> Iterator[Reason]:
    yield from _exit(inputs)
    yield from _ledger(inputs)
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
    """Whether all that failed is known."""
    if inputs.partial:
        yield Reason(Code.REPORT_PARTIAL, "A report is damaged: what came after the damage is not known.")
    if inputs.run_errors:
        what = "1 thing" if inputs.run_errors == 1 else f"{inputs.run_errors:,} things"
        sentence = f"{what} besides tests failed, such as a build, a collection, a hook or the runner itself."
        yield Reason(Code.RUN_ERRORS, sentence)
    if not inputs.failing:
        yield Reason(Code.FAILED_WITHOUT_FAILURES, f"The runner exited with {inputs.exit_code}, but no test failed.")
        return
    counted, read = counted_failures(inputs.runner, inputs.exit_code), len(inputs.failing) + inputs.run_errors
    if counted is not None and counted > read and inputs.runner not in inputs.exit_codes:
        sentence = (
            f"{inputs.runner} exits with the number of failures: {counted:,} by its exit code, {read:,} in reports."
        )
        yield Reason(Code.FEWER_FAILURES, sentence)


def _ledger(inputs: Inputs) -> Iterator[Reason]:
    """Whether everything that was to be sent came, was processed, and is accounted for."""
    if inputs.failed_uploads:
        what = "1 upload" if inputs.failed_uploads == 1 else f"{inputs.failed_uploads:,} uploads"
        sentence = f"{what} of this run could not be processed: what failed there is not known."
        yield Reason(Code.UPLOAD_FAILED, sentence)
    if inputs.not_understood:
        yield Reason(Code.NOT_UNDERSTOOD, f"Not understood: {_first(inputs.not_understood)}")
    if inputs.unsent:
        yield Reason(Code.NOT_SENT, f"Not sent: {_first(inputs.unsent)}")


def _first(sentences: Sequence[str]) -> str:
    named = " ".join(sentences[:_NAMED])
    return named if len(sentences) <= _NAMED else f"{named} And {len(sentences) - _NAMED:,} more."


def _whole(inputs: Inputs) -> Iterator[Reason]:
    """Whether all tests ran: those that did not may fail too."""
    if sentence := _cut_short(inputs):
        yield Reason(Code.CUT_SHORT, sentence)
    if not inputs.has_own_norm and (inputs.first_runs is FirstRuns.HOLD or inputs.is_shard):
        yield Reason(Code.FIRST_OF_ITS_KIND, _FIRST)
    if inputs.unrun:
        code = Code.SPLIT_INCOMPLETE if inputs.is_shard else Code.SELECTION_INCOMPLETE
        yield Reason(code, _unrun_sentence(inputs))
    if inputs.newly_skipped > inputs.tests * inputs.missing_share:
        skipped = f"{inputs.newly_skipped:,} of {inputs.tests:,} tests of this run were skipped; of late they ran."
        yield Reason(Code.TOO_FEW_TESTS, skipped)
    norm = inputs.norm
    if norm is not None and inputs.executed < norm * (1 - inputs.missing_share):
        yield Reason(Code.TOO_FEW_TESTS, _few_sentence(inputs, norm))


def _unrun_sentence(inputs: Inputs) -> str:
    unrun, chosen = inputs.unrun, "the split gives to this shard" if inputs.is_shard else "the selection chose"
    tests = "1 test" if len(unrun) == 1 else f"{len(unrun):,} tests"
    named = ", ".join(unrun[:_NAMED]) + (f" and {len(unrun) - _NAMED:,} more" if len(unrun) > _NAMED else "")
    return f"{tests} that {chosen} did not run: {named}."


def _few_sentence(inputs: Inputs, norm: int) -> str:
    if inputs.norm_of_splits:
        what = "split" if inputs.is_shard else "selection"
        return f"The {what} is of {inputs.executed:,} tests; earlier ones of this job were of {norm:,}."
    alike = "such runs have" if inputs.norm_of_its_kind else "other runs with these tests have"
    return f"{inputs.executed:,} tests ran; {alike} {norm:,} of late."


def _cut_short(inputs: Inputs) -> str:
    """What says that the run may have stopped before its last test; empty where nothing does."""
    sentences, norm = [], inputs.norm
    if inputs.ended_failing and norm is not None and inputs.executed < norm:
        sentences.append(f"It ended with a failing test after {inputs.executed:,} of about {norm:,}: it stopped there.")
    if inputs.truncated and signal_of(inputs.exit_code) is None:  # which is a reason of its own
        sentences.append(f"The run may have been cut short: {inputs.truncated.rstrip('.')}.")
    if inputs.ended_failing and norm is None and not sentences:
        sentences.append("It ended with a failing test, and no run like it tells whether more tests should have run.")
    return " ".join(sentences)


_FIRST = (
    "It is the first of its kind: too few runs of this job, shard and environment tell how many tests it should have."
)


def _notes(inputs: Inputs) -> Iterator[Reason]:
    if inputs.one_request:
        sentence = "Without a build id this request alone was judged, and not what else was sent of the build."
        yield Reason(Note.ONE_REQUEST, sentence)
    if inputs.read and not inputs.has_own_norm:
        yield Reason(Note.FIRST_OF_ITS_KIND, _FIRST)
    if inputs.exit_code == 0 and inputs.unrun:
        note = Note.SPLIT_INCOMPLETE if inputs.is_shard else Note.SELECTION_INCOMPLETE
        yield Reason(note, _unrun_sentence(inputs))
    if inputs.exit_code == 0 and (inputs.failing or inputs.run_errors):
        sentence = "The command says that it succeeded, and its reports say that something failed."
        yield Reason(Note.SUCCEEDED_WITH_FAILURES, sentence)
    if inputs.exit_code == 0 and (inputs.not_understood or inputs.unsent or inputs.partial or inputs.failed_uploads):
        sentence = "Not all that was sent, or should have been, was understood: the upload's page says what."
        yield Reason(Note.SUCCEEDED_UNREAD, sentence)


def _tests(inputs: Inputs) -> Iterator[Reason]:
    expired = [
        failing_test
        for failing_test in inputs.failing
        if failing_test.excuse is not None and failing_test.excuse.expired
    ]
    unknown = [failing_test for failing_test in inputs.failing if failing_test.excuse is None]
    ambiguous = [failing_test for failing_test in inputs.failing if failing_test.quarantined and failing_test.ambiguous]
    if ambiguous:
        sentence = f"{_names(ambiguous)}: several results of one name, and it is not known which test that is."
        yield Reason(Code.AMBIGUOUS_IDENTITY, sentence)
    if expired:
        yield Reason(Code.QUARANTINE_EXPIRED, f"{_names(expired)} failed, and the quarantine has expired.")
    if unknown:
        yield Reason(Code.NOT_QUARANTINED, f"{_names(unknown)} failed without being quarantined here.")
    excused = sum(not failing_test.blocks for failing_test in inputs.failing)
    if inputs.most_excused is not None and excused > inputs.most_excused:
        most = inputs.most_excused
        sentence = f"{excused:,} failures are quarantined; of what a fork sends, {most:,} may be excused."
        yield Reason(Code.TOO_MANY_EXCUSED, sentence)


def _names(tests: Sequence[FailingTest]) -> str:
    named = ", ".join(test.label for test in tests[:_NAMED])
    return named if len(tests) <= _NAMED else f"{named} and {len(tests) - _NAMED:,} more"


# -- in one sentence ---------------------------------------------------------------------------------------------

_OF_TESTS = frozenset({Code.NOT_QUARANTINED, Code.QUARANTINE_EXPIRED, Code.AMBIGUOUS_IDENTITY, Code.TOO_MANY_EXCUSED})


def _untrusted(reasons: Sequence[Reason]) -> bool:
    return any(reason.code not in _OF_TESTS for reason in reasons)


def _sentence(inputs: Inputs, *, passed: bool, untrusted: bool) -> str:
    if not inputs.failing:
        return "The build failed for another reason than its tests." if inputs.read else "No report could be read."
    excused = sum(not failing_test.blocks for failing_test in inputs.failing)
    blocking = len(inputs.failing) - excused
    if passed:
        return f"{_counted(inputs)}, and {'it is' if excused == 1 else 'all are'} quarantined: the build may pass."
    parts = [f"{excused:,} {'is' if excused == 1 else 'are'} quarantined"] if excused else []
    parts += [f"{blocking:,} {'blocks' if blocking == 1 else 'block'}"] if blocking else []
    sentence = f"{_counted(inputs)}: {', '.join(parts)}"
    return f"{sentence}, and the report cannot be trusted." if untrusted else f"{sentence}."


def _counted(inputs: Inputs) -> str:
    if not inputs.failing:
        return ""
    return f"{len(inputs.failing):,} of {inputs.tests:,} tests failed"
