"""Dependencies with names, and as files."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from analytics.history.names import Names, names
from analytics.lab.chances import expected_share
from analytics.lab.dependencies import KnownDependency
from analytics.lab.models import Dependency
from analytics.lab.names import reference_of
from dashboard.api.lab.answers import test_body
from ingest.models import Project

_COLUMNS = (
    *("id", "ground", "role", "sign", "test", "before", "cleaners", "p_value", "reason"),
    *("last_shown", "commits", "stale", "retired"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def dependency_bodies(project: Project, found: Sequence[KnownDependency]) -> list[dict[str, Any]]:
    known = names(project.pk, tests=(number for dependency in found for number in dependency.tests))
    of_test: dict[int, list[KnownDependency]] = defaultdict(list)
    for dependency in found:
        if dependency.row is not None and dependency.row.retired_at is None:
            of_test[dependency.after].append(dependency)
    shares = {number: expected_share(dependencies, known.tests) for number, dependencies in of_test.items()}
    return [_body(dependency, known, shares.get(dependency.after)) for dependency in found]


def _body(dependency: KnownDependency, known: Names, share: Any) -> dict[str, Any]:
    row = dependency.row
    return {
        "id": dependency.id,
        "ground": dependency.ground,
        "role": dependency.role,
        "sign": dependency.sign,
        "test": test_body(known, dependency.after),
        "before": [test_body(known, number) for number in dependency.before],
        "cleaners": [test_body(known, number) for number in dependency.cleaners],
        "alone": None if row is None else row.counts.get("alone"),
        "together": None if row is None else row.counts.get("together"),
        "p_value": dependency.p_value,
        "reason": "" if row is None else row.reason,
        "first": None if row is None else _moment(row.first_at, row.first_commit, row.first_experiment),
        "last": None if row is None else _moment(row.last_at, row.last_commit, row.last_experiment),
        "commits": dependency.commits,
        "stale": dependency.stale,
        "retired": None if row is None or row.retired_at is None else {"at": row.retired_at, "why": row.retired_why},
        "random_orders": None if share is None else {"value": share.value, "how": share.how},
    }


def _moment(at: Any, commit: str, experiment: Any) -> dict[str, Any]:
    return {"revision": commit, "experiment": None if experiment is None else experiment.key, "at": at}


def as_csv(project: Project, found: Sequence[KnownDependency]) -> str:
    known = names(project.pk, tests=(number for dependency in found for number in dependency.tests))
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerow(_COLUMNS)
    for dependency in found:
        row = dependency.row
        values = (
            *(dependency.id, dependency.ground, dependency.role, dependency.sign, _reference(known, dependency.after)),
            *(_references(known, dependency.before), _references(known, dependency.cleaners), dependency.p_value),
            *("" if row is None else row.reason, None if row is None else row.last_at.isoformat()),
            *(dependency.commits, dependency.stale, row is not None and row.retired_at is not None),
        )
        writer.writerow([_cell(value) for value in values])
    return file.getvalue()


def _cell(value: Any) -> Any:
    """Text so that no spreadsheet takes it for a formula."""
    is_formula = isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def _reference(known: Names, number: int) -> str:
    return reference_of(known.test(number))


def _references(known: Names, numbers: Iterable[int]) -> str:
    return " ".join(_reference(known, number) for number in numbers)


def as_markers(project: Project, found: Sequence[KnownDependency]) -> str:
    """Markers of the plugin pytest-order, a line a test: a victim runs before the last of its polluters."""
    known = names(project.pk, tests=(number for dependency in found for number in dependency.tests))
    before: dict[int, list[str]] = defaultdict(list)
    after: dict[int, list[str]] = defaultdict(list)
    for dependency in found:
        if dependency.role == Dependency.Role.POLLUTER:
            before[dependency.after].append(_reference(known, dependency.before[-1]))
        else:
            after[dependency.after] += [_reference(known, number) for number in dependency.before]
    lines = ["# Markers of pytest-order (pip install pytest-order): paste each above its test."]
    for number in sorted({*before, *after}):
        arguments = [
            f"{word}={sorted(set(tests))!r}"
            for word, tests in (("after", after.get(number)), ("before", before.get(number)))
            if tests
        ]
        lines += [f"# {_line(_reference(known, number))}", f"@pytest.mark.order({', '.join(arguments)})"]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
