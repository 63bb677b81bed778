"""From what has arrived of an experiment to findings and dependencies; made anew whenever more arrives."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction

from analytics.columns.codec import Columns
from analytics.columns.schema import ORDER_KINDS
from analytics.kernel.flakiness import flaky_or_recovered
from analytics.kernel.orders import OrderKind
from analytics.lab.answers.answer import answer_in
from analytics.lab.dependencies import stored
from analytics.lab.models import Dependency, ExperimentFinding
from analytics.lab.names import Resolver
from analytics.lab.reruns import rerun_findings
from analytics.lab.results import Group, TestResult, disproved_in, found_in, not_run_in
from analytics.selectors import current_tests
from ingest.models import Experiment, ExperimentOrder

_Kind, _Role = ExperimentFinding.Kind, Dependency.Role
FAILING_KINDS = (_Kind.OD, _Kind.NOD)
_OF_FIRST_GROUP = ("state", "fixture")
"""What the client says of a finding and has seen with its first group alone."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What an experiment came to."""

    experiment: Experiment
    dependencies: Sequence[Dependency]
    """Shown by it, now or when it was concluded before."""
    new: Sequence[int]
    """Tests found to be order-dependent or flaky that were known as neither, by number."""
    known: Sequence[int]
    unknown: Sequence[str]
    """References to tests that no processed upload names yet."""
    first_shown: Sequence[int]
    """Tests whose first dependency this is, now for the first time."""


@transaction.atomic
def experiment_conclude(*, experiment: Experiment) -> Conclusion:
    """Write findings and dependencies of all that has arrived; called again, it changes nothing but what is new."""
    held = Experiment.objects.select_for_update(no_key=True).get(pk=experiment.pk)
    resolver = Resolver(held.project)
    if held.is_of_one_test:
        return _conclude_answer(held, resolver)
    found = [finding for result in held.results.values() for finding in found_in(result)]
    numbers = resolver.numbers(reference for finding in found for reference in finding.references)
    unknown = sorted({reference for finding in found for reference in finding.references} - numbers.keys())
    findings = _findings_write(held, found, numbers)
    before = _known_before(held)
    dependencies, first_shown = [], []
    for finding in found:
        for place, group in enumerate(finding.groups if finding.kind == _Kind.OD else ()):
            row, is_new = _show(held, finding, group, numbers, is_first_group=place == 0)
            dependencies += [row] if row is not None else []
            first_shown += [row.number] if row is not None and is_new else []
    _retire_disproved(held, resolver)
    failing = [row.number for row in findings if row.kind in FAILING_KINDS]
    held.counts = _counts(held, findings)
    held.concluded = True
    held.save(update_fields=["counts", "concluded"])
    return Conclusion(
        experiment=held,
        dependencies=dependencies,
        new=[number for number in failing if number not in before],
        known=[number for number in failing if number in before],
        unknown=unknown,
        first_shown=[number for number in dict.fromkeys(first_shown) if number not in before],
    )


def _conclude_answer(experiment: Experiment, resolver: Resolver) -> Conclusion:
    """The answer of an experiment on one test: a finding of that test, once a report has named it."""
    answers = [answer_in(experiment.protocol, result) for result in experiment.results.values()]
    answer = next((each for each in reversed(answers) if each is not None), None)
    number = None if answer is None else resolver.numbers([answer.test]).get(answer.test)
    ExperimentFinding.objects.filter(experiment=experiment).delete()
    if answer is not None and number is not None:
        _row(experiment, number, experiment.protocol, "", {**answer.data, "sentence": answer.sentence}).save()
    experiment.counts = {"tests": 1, "sentence": answer.sentence} if answer is not None else {}
    experiment.concluded = True
    experiment.save(update_fields=["counts", "concluded"])
    unknown = [answer.test] if answer is not None and number is None else []
    return Conclusion(experiment, dependencies=(), new=(), known=(), unknown=unknown, first_shown=())


def experiments_unconcluded() -> "Iterable[Experiment]":
    """Those of which something arrived and whoever should have concluded it died."""
    return Experiment.objects.filter(concluded=False, project__deleting_at=None).select_related("project")


# -- findings ----------------------------------------------------------------------------------------------------


def _findings_write(
    experiment: Experiment, found: Sequence[TestResult], numbers: dict[str, int]
) -> list[ExperimentFinding]:
    rows: dict[int, ExperimentFinding] = {}
    for finding in found:
        if finding.test in numbers:
            number = numbers[finding.test]
            rows[number] = _worse(rows.get(number), _finding(experiment, finding, number))
    if experiment.protocol == Experiment.Protocol.RERUNS:
        for number, kind, data in rerun_findings(experiment):
            role, more = (rows[number].role, rows[number].data) if number in rows else ("", {})
            rows[number] = _row(experiment, number, kind, role if kind == _Kind.OD else "", {**more, **data})
    ExperimentFinding.objects.filter(experiment=experiment).delete()
    return ExperimentFinding.objects.bulk_create(rows.values(), batch_size=1_000)


def _worse(known: ExperimentFinding | None, new: ExperimentFinding) -> ExperimentFinding:
    """Of two iterations that disagree: what failed by chance once is not deterministic."""
    return known if known is not None and known.kind == _Kind.NOD else new


def _finding(experiment: Experiment, found: TestResult, number: int) -> ExperimentFinding:
    alone = {} if found.alone is None else {"alone": {"passed": found.alone[0], "of": found.alone[1]}}
    groups = [
        {"role": group.role, "tests": group.tests, "cleaners": group.cleaners, "agreed": group.agreed, "of": group.of}
        for group in found.groups
    ]
    return _row(experiment, number, found.kind, found.role, {**found.details, **alone, "groups": groups})


def _row(experiment: Experiment, number: int, kind: str, role: str, data: dict[str, Any]) -> ExperimentFinding:
    return ExperimentFinding(
        experiment=experiment, project_id=experiment.project_id, number=number, kind=kind, role=role, data=data
    )


def _known_before(experiment: Experiment) -> set[int]:
    """Tests that were known to be flaky or order-dependent without this experiment."""
    earlier = ExperimentFinding.objects.filter(project=experiment.project_id, kind__in=FAILING_KINDS)
    shown = Dependency.objects.filter(project=experiment.project_id).exclude(first_experiment=experiment)
    _, columns = current_tests(experiment.project_id)
    return {
        *earlier.filter(experiment__began_at__lt=experiment.began_at).values_list("number", flat=True),
        *shown.filter(first_at__lt=experiment.began_at).values_list("number", flat=True),
        *_known_to_analysis(columns),
    }


def _known_to_analysis(columns: Columns) -> list[int]:
    if not len(columns):
        return []
    depends = [ORDER_KINDS.index(kind.value) for kind in (OrderKind.OD, OrderKind.NDOD)]
    known = flaky_or_recovered(columns["state"]) | np.isin(columns["order_kind"], depends)
    return [int(number) for number in columns["number"][known]]


def _counts(experiment: Experiment, findings: Sequence[ExperimentFinding]) -> dict[str, int]:
    kinds = [row.kind for row in findings]
    results = experiment.results.values()
    tests = [value for result in results if isinstance(value := result.get("tests"), int)]
    return {
        "tests": max(tests, default=0),
        "orders": ExperimentOrder.objects.filter(experiment=experiment).count(),
        "od": kinds.count(_Kind.OD),
        "nod": kinds.count(_Kind.NOD),
        "other": sum(kind not in FAILING_KINDS for kind in kinds),
        "not_run": len({test for result in results for test, _ in not_run_in(result)}),
    }


# -- dependencies ------------------------------------------------------------------------------------------------


def _show(
    experiment: Experiment, found: TestResult, group: Group, numbers: dict[str, int], *, is_first_group: bool
) -> tuple[Dependency | None, bool]:
    """Make or renew the dependency that a group shows; the second value is whether it is new."""
    references = (found.test, *group.tests)
    if not group.is_shown or any(reference not in numbers for reference in references):
        return None, False
    number, *before = (numbers[reference] for reference in references)
    if number in before:
        return None, False
    cleaners = [numbers[reference] for reference in group.cleaners if reference in numbers]
    row = _same(experiment, number, group.role, before)
    is_new = row is None
    row = row or Dependency(
        project=experiment.project,
        number=number,
        role=group.role,
        before=before,
        ground=Dependency.Ground.SHOWN,
        first_at=experiment.began_at,
        first_commit=experiment.commit,
        first_experiment=experiment,
        last_at=experiment.began_at,
    )
    if row.retired_at is None and experiment.began_at >= row.last_at:
        row.cleaners = sorted({*row.cleaners, *cleaners} - {number, *before})
        row.counts = _group_counts(found, group)
        details = {**row.details, **found.details}
        row.details = {name: details[name] for name in details if is_first_group or name not in _OF_FIRST_GROUP}
        row.last_at, row.last_commit, row.last_experiment = experiment.began_at, experiment.commit, experiment
        row.save()
    return (row if row.retired_at is None else None), is_new


def _same(experiment: Experiment, number: int, role: str, before: Sequence[int]) -> Dependency | None:
    """The shown dependency of the same tests, under any of their names: a live one, or one that was retired after this
    experiment, which must not bring it back."""
    rows = Dependency.objects.filter(project=experiment.project_id, role=role, ground=Dependency.Ground.SHOWN)
    same = [known for known in stored(experiment.project, rows) if (known.after, known.before) == (number, (*before,))]
    current = [known.row for known in same if known.row is not None and known.row.retired_at is None]
    ended = [
        known.row
        for known in same
        if known.row is not None and known.row.retired_at is not None and known.row.retired_at > experiment.began_at
    ]
    return next(iter((*current, *ended)), None)


def _group_counts(found: TestResult, group: Group) -> dict[str, Any]:
    word = "failed" if group.role == _Role.POLLUTER else "passed"
    alone = {} if found.alone is None else {"alone": {"passed": found.alone[0], "of": found.alone[1]}}
    return {**alone, "together": {word: group.agreed, "of": group.of}}


def _retire_disproved(experiment: Experiment, resolver: Resolver) -> None:
    """An experiment that is newer than what it tried in vain retires it."""
    disproved = [pair for result in experiment.results.values() for pair in disproved_in(result)]
    if not disproved:
        return
    numbers = resolver.numbers(reference for test, group in disproved for reference in (test, *group.tests))
    wanted = {
        (group.role, numbers.get(test), tuple(numbers.get(reference) for reference in group.tests)): group
        for test, group in disproved
    }
    rows = Dependency.objects.filter(project=experiment.project_id, retired_at=None, last_at__lt=experiment.began_at)
    for known in stored(experiment.project, rows):
        group = wanted.get(known.identity)
        if group is not None and known.row is not None:
            effect = "failed" if known.role == _Role.POLLUTER else "passed"
            why = f"Experiment {experiment.key} tried it: {effect} 0 of {group.of}."
            Dependency.objects.filter(pk=known.row.pk, retired_at=None).update(
                retired_at=experiment.ended_at or experiment.began_at, retired_why=why
            )
