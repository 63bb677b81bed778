"""The numbers of a test: one table, a row each. Sorting, filters, rows, the API, files, the page of tests and its help
follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from datetime import datetime
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import numpy as np

from analytics.columns.codec import Column
from analytics.columns.formulas import (
    cluster_number,
    failed_again_rate,
    failure_rate,
    reruns_of_failures,
    where_alone,
    where_it_failed,
    where_reruns_help,
)
from analytics.columns.number import Again, Cost, Count, Evidence, Filter, Interval, Number, Reruns
from analytics.columns.sources import (
    CATEGORIES,
    ORDER_KINDS,
    PREDICTIONS,
    cause_bits,
    of_priority,
    order_kinds,
    started,
)
from analytics.kernel.bursts import Context
from analytics.kernel.flakiness import State

if TYPE_CHECKING:
    from analytics.kernel.analysis import Analysis
    from analytics.loaders import Loaded

STATES = tuple(state.name.lower() for state in State)

# -- the table ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TestRow:
    """What an analysis concluded of one test. Each field is a row of the table, or several that belong together; its
    order is that of the API's answers."""

    __test__ = False  # the name means something to pytest

    number: Annotated[
        int,
        Number("number", "Number", "The test's number in its project; it never changes.", "test"),
    ]
    state: Annotated[
        State,
        Number(
            "state",
            "State",
            "What the window lets us conclude: stable, flaky, suspect, broken, recovered.",
            "state",
            of_every=lambda found: found.state.astype(np.uint8),
            words={state.value: state.name.lower() for state in State},
            sortable=False,
            filter=Filter("state", "Only tests in one of these states.", several=True),
            exported=1,
        ),
    ]
    failed: Annotated[
        int,
        Number(
            "failed",
            "Failed",
            "Runs of the window in which its first attempt failed or errored, outside incidents.",
            "rate",
            of_every=lambda found: found.rates.failed,
            exported=2,
        ),
    ]
    executed: Annotated[
        int,
        Number(
            "executed",
            "Executed",
            "Runs of the window that executed it: it passed, failed or errored. Retries do not count.",
            "rate",
            of_every=lambda found: found.rates.executed,
            filter=Filter("min_executed", "Only tests that were executed at least so often."),
            exported=3,
        ),
    ]
    attempts: Annotated[
        Count,
        "All executions, retries counted.",
        Number(
            "attempts_failed",
            "Failed attempts",
            "Executions that failed, retries counted, outside incidents.",
            "rate",
            of_every=lambda found: found.attempts.failed,
            part="failed",
            exported=7,
        ),
        Number(
            "attempts_executed",
            "Attempts",
            "All executions, retries counted.",
            "rate",
            of_every=lambda found: found.attempts.executed,
            part="executed",
            exported=8,
        ),
    ]
    skipped: Annotated[
        int,
        Number(
            "skipped",
            "Skipped",
            "Executions of the window that were skipped; no other number counts them.",
            "rate",
            of_every=lambda found: found.window.skipped,
            exported=9,
        ),
    ]
    rate: Annotated[
        Interval | None,
        "failed / executed, with its 95 % interval; null where nothing was executed.",
        Number(
            "rate",
            "Failure rate",
            "Runs that it failed by runs that executed it, first attempts alone; incidents are left out.",
            "rate",
            formula=failure_rate,
            part="value",
            unit="share",
            exported=4,
        ),
        Number(
            "low",
            "Failure rate, at least",
            "The lower end of the rate's 95 % interval. Sorting by it puts what surely fails often first.",
            "interval",
            of_every=lambda found: found.rates.low,
            part="low",
            unit="share",
            exported=5,
        ),
        Number(
            "high",
            "Failure rate, at most",
            "The upper end of the rate's 95 % interval.",
            "interval",
            of_every=lambda found: found.rates.high,
            part="high",
            unit="share",
            exported=6,
        ),
    ]
    default_branch: Annotated[
        Count | None,
        "Runs of the default branch alone; null where it never failed.",
        Number(
            "failed_default",
            "Failed on the default branch",
            "Runs of the default branch in which its first attempt failed.",
            "rate",
            of_failed=lambda found: found.failed.default_branch.failed,
            formula=where_it_failed,
            part="failed",
        ),
        Number(
            "executed_default",
            "Executed on the default branch",
            "Runs of the default branch that executed it.",
            "rate",
            of_failed=lambda found: found.failed.default_branch.executed,
            formula=where_it_failed,
            part="executed",
        ),
    ]
    in_incidents: Annotated[
        int,
        Number(
            "in_incidents",
            "Failures in incidents",
            "Failures inside incidents, left out of all other counts.",
            "incident",
            of_failed=lambda found: found.failed.in_incidents,
        ),
    ]
    incidents: Annotated[
        int,
        Number(
            "incidents",
            "Incidents",
            "The incidents that its failures were in.",
            "incident",
            of_failed=lambda found: found.failed.incidents,
            exported=10,
        ),
    ]
    evidence: Annotated[
        Evidence,
        Number(
            "contradictions",
            "Contradictions",
            "Revisions at which it both passed and failed in one environment.",
            "evidence",
            of_failed=lambda found: found.failed.evidence.contradictions,
            part="contradictions",
        ),
        Number(
            "recoveries",
            "Recoveries",
            "Runs in which one attempt failed and another passed.",
            "evidence",
            of_failed=lambda found: found.failed.evidence.recoveries,
            part="recoveries",
        ),
        Number(
            "reversals",
            "Reversals",
            "Times it failed between two passes on the default branch, across revisions: a hint, never proof.",
            "evidence",
            of_failed=lambda found: found.failed.evidence.reversals,
            part="reversals",
        ),
    ]
    bursts: Annotated[
        int,
        Number(
            "bursts",
            "Bursts",
            "How often it began to fail: failures in a row are one burst.",
            "burst",
            of_failed=lambda found: found.failed.bursts.count,
        ),
    ]
    longest_burst: Annotated[
        int,
        Number(
            "longest_burst",
            "Burst",
            "The most failures in a row, in one environment on one host.",
            "burst",
            of_failed=lambda found: found.failed.bursts.longest,
            exported=11,
            shown=True,
        ),
    ]
    again: Annotated[
        Again,
        Number(
            "failed_again",
            "Failed again",
            "Reruns of a failure that failed too.",
            "burst",
            of_failed=lambda found: found.failed.bursts.again,
            part="failed",
        ),
        Number(
            "cleared",
            "Cleared",
            "Reruns of a failure that passed.",
            "burst",
            of_failed=lambda found: found.failed.bursts.cleared,
        ),
        Number(
            "reran",
            "Reruns of failures",
            "Reruns of a failure, of one context: contexts are never pooled.",
            "burst",
            formula=reruns_of_failures,
            part="of",
            sortable=False,
        ),
        Number(
            "context",
            "Kind of rerun",
            "Retries in the report where it has any, else reruns alone in the run, else the next run.",
            "burst",
            of_failed=lambda found: found.failed.bursts.context.astype(np.uint8),
            part="context",
            words={context.value: context.name.lower() for context in Context},
            sortable=False,
        ),
        Number(
            "again",
            "Failed again, share",
            "How often an execution that followed a failure failed too.",
            "burst",
            formula=failed_again_rate,
            unit="share",
        ),
    ]
    reruns: Annotated[
        Reruns,
        Number(
            "to_get_past",
            "Get past",
            "Reruns after a failure until one passes with 95 % probability, taking bursts into account.",
            "reruns",
            of_failed=lambda found: found.failed.to_get_past,
            formula=where_reruns_help,
            part="to_get_past",
            exported=12,
            shown=True,
        ),
        Number(
            "to_expose",
            "Expose",
            "So many executions, and with 95 % probability it shows both a pass and a failure.",
            "reruns",
            of_failed=lambda found: found.failed.to_expose,
            formula=where_reruns_help,
            part="to_expose",
            exported=13,
            shown=True,
        ),
        Number(
            "to_confirm",
            "Confirm",
            "So many clean executions after a fix, and with 95 % confidence it is not the old test on a lucky streak.",
            "reruns",
            of_failed=lambda found: found.failed.to_confirm,
            formula=where_reruns_help,
            part="to_confirm",
            exported=14,
            shown=True,
        ),
    ]
    clean: Annotated[
        int | None,
        Number(
            "clean",
            "Clean",
            "Executions since the last failure.",
            "burst",
            of_failed=lambda found: found.failed.streaks.clean,
            formula=where_it_failed,
            empty="it never failed",
        ),
    ]
    seconds: Annotated[
        float | None,
        Number(
            "seconds",
            "Duration",
            "Its mean duration in seconds.",
            "duration",
            of_every=lambda found: found.window.seconds,
            unit="seconds",
            empty="no report states one",
        ),
    ]
    last_seen: Annotated[
        datetime | None,
        Number(
            "last_seen",
            "Last seen",
            "When the last report of the window that holds it started.",
            "window",
            of_every=lambda found: started(found, found.window.last),
            empty="the window does not hold it",
        ),
    ]
    last_failure: Annotated[
        datetime | None,
        Number(
            "last_failure",
            "Last failure",
            "When the last report in which it failed started.",
            "window",
            of_failed=lambda found: started(found, found.failed.onsets.last_failure),
            of_others=np.nan,
            empty="it never failed",
            exported=15,
        ),
    ]
    flaky_since: Annotated[
        datetime | None,
        Number(
            "flaky_since",
            "Flaky since",
            "The first contradiction or recovery in the window.",
            "onset",
            of_failed=lambda found: started(found, found.failed.onsets.first),
            of_others=np.nan,
            empty="nothing proves it flaky",
            exported=16,
        ),
    ]
    causes: Annotated[
        tuple[str, ...],
        Number(
            "causes",
            "Cause",
            "From what failures say, when and where they happen, orders and durations. Several may hold.",
            "cause",
            of_failed=cause_bits,
            words=dict(enumerate(CATEGORIES)),
            are_bits=True,
            sortable=False,
            filter=Filter("cause", "Only tests with this cause among theirs."),
            exported=17,
        ),
    ]
    order_kind: Annotated[
        str | None,
        Number(
            "order_kind",
            "Orders say",
            "Whether it fails by the order in which tests run: OD, NDOD or NDOI.",
            "order-kind",
            of_failed=order_kinds,
            words=dict(enumerate(ORDER_KINDS)),
            sortable=False,
            filter=Filter("order_kind", "Only tests whose orders say this of them."),
            exported=18,
        ),
    ]
    cluster: Annotated[
        int | None,
        Number(
            "cluster",
            "Cluster",
            "Tests that fail in the same runs more often than chance explains: one cause, fixed once. Its number is "
            "that of its lowest test.",
            "cluster",
            of_failed=lambda found: found.clusters.label,
            of_others=-1,
            formula=cluster_number,
            empty="it is in none",
            exported=19,
        ),
    ]
    signature_cluster: Annotated[
        int | None,
        Number(
            "signature_cluster",
            "Cluster by message",
            "Tests whose failures share a signature. Its number is that of its lowest test.",
            "cluster",
            of_failed=lambda found: found.by_signature,
            of_others=-1,
            formula=cluster_number,
            empty="it is in none",
        ),
    ]
    blocked: Annotated[
        int | None,
        Number(
            "blocked",
            "Blocked",
            "Runs that flaky tests blocked, or would have where something broken failed too; it took part.",
            "blocked",
            of_failed=lambda found: of_priority(found, found.priority.blocked),
            formula=where_alone,
            empty="it is in a cluster, which counts as one",
            exported=20,
            shown=True,
        ),
    ]
    cost: Annotated[
        Cost | None,
        "Null in a cluster: what that costs is in the priorities.",
        Number(
            "cost",
            "Cost",
            "Machine minutes of reruns and developer minutes of blocked runs, with an interval.",
            "cost",
            of_failed=lambda found: of_priority(found, found.priority.cost),
            formula=where_alone,
            part="mid",
            unit="minutes",
            exported=21,
        ),
        Number(
            "cost_low",
            "Cost, at least",
            "The lower end of the cost's interval, in minutes.",
            "cost",
            of_failed=lambda found: of_priority(found, found.priority.low),
            formula=where_alone,
            part="low",
            unit="minutes",
        ),
        Number(
            "cost_high",
            "Cost, at most",
            "The upper end of the cost's interval, in minutes.",
            "cost",
            of_failed=lambda found: of_priority(found, found.priority.high),
            formula=where_alone,
            part="high",
            unit="minutes",
        ),
    ]
    prediction: Annotated[
        str | None,
        Number(
            "prediction",
            "Prediction",
            "Whether it looks like tests that are flaky here, while its own results do not tell yet: a guess, never "
            "evidence.",
            "predictions",
            of_every=lambda found: np.zeros(len(found.state), dtype=np.uint8),
            words=dict(enumerate(PREDICTIONS)),
            sortable=False,
            filter=Filter("prediction", "Only tests of which this is predicted."),
            exported=22,
        ),
    ]

    @property
    def state_name(self) -> str:
        return self.state.name.lower()


# -- what follows from it ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowField:
    """A field of `TestRow`, taken apart."""

    type: Any
    optional: bool
    help: str
    """What several numbers are together; nothing for one number."""
    numbers: tuple[Number, ...]


def type_of(hint: Any) -> tuple[Any, bool]:
    """A type, and whether it may be None."""
    parts = get_args(hint)
    return (next(part for part in parts if part is not NoneType), True) if NoneType in parts else (hint, False)


def _row_field(name: str, hint: Any) -> RowField:
    inner, *metadata = get_args(hint)
    helps = [item for item in metadata if isinstance(item, str)]
    numbers = (replace(item, field=name) for item in metadata if isinstance(item, Number))
    return RowField(*type_of(inner), "".join(helps), tuple(numbers))


FIELDS: Mapping[str, RowField] = {
    name: _row_field(name, hint) for name, hint in get_type_hints(TestRow, include_extras=True).items()
}
NUMBERS: Mapping[str, Number] = {number.name: number for field in FIELDS.values() for number in field.numbers}
"""All rows of the table, by name."""


@cache
def number_type(name: str) -> tuple[Any, bool]:
    """The type of a number, and whether a test may have none."""
    number = NUMBERS[name]
    field = FIELDS[number.field]
    if not is_dataclass(field.type):
        return field.type, field.optional
    inner, optional = type_of(get_type_hints(field.type)[number.part]) if number.part else (float, True)
    return inner, optional or field.optional


_FORMULAS = (None, failure_rate, failed_again_rate, where_it_failed, where_reruns_help, cluster_number, where_alone)
"""In the order in which the API's schema lists them: as stored first. A new one may come last."""


def _sorting_place(number: Number) -> int:
    return _FORMULAS.index(number.formula) if number.formula in _FORMULAS else len(_FORMULAS)


SORTABLE = tuple(number.name for number in sorted(NUMBERS.values(), key=_sorting_place) if number.sortable)
"""What tests are sorted by here; by name the database sorts."""
FILTERS = {number.filter.parameter: number for number in NUMBERS.values() if number.filter is not None}
"""By parameter."""
EXPORTED = tuple(
    sorted((name for name, number in NUMBERS.items() if number.exported), key=lambda name: NUMBERS[name].exported or 0)
)
SHOWN = tuple(number for number in NUMBERS.values() if number.shown)


# -- columns of an analysis --------------------------------------------------------------------------------------


def columns(found: "Analysis") -> dict[str, Column]:
    """One row a test of the window, by number."""
    seen = np.flatnonzero(found.window.first >= 0)
    place_of = np.searchsorted(seen, found.window.failing)
    stored = {}
    for name, number in NUMBERS.items():
        if number.of_every is not None:
            stored[name] = number.of_every(found)[seen]
        elif number.of_failed is not None:
            column = number.of_failed(found)
            stored[name] = np.full(len(seen), number.of_others, dtype=column.dtype)
            stored[name][place_of] = column
    return {"number": seen, **{name: _small(column) for name, column in stored.items()}}


def run_columns(found: "Analysis", loaded: "Loaded") -> dict[str, Column]:
    """One row a run of the window: how it ended; and one row a new failure."""
    return {
        "run_id": loaded.run_ids,
        "run_end": found.runs.end.astype(np.uint8),
        "new_run": _small(loaded.run_ids[found.new.run]),
        "new_test": _small(found.window.failing[found.new.test]),
    }


def _small(column: Column) -> Column:
    """Half the bytes where nothing is lost that a page would show: moments alone keep their precision."""
    if column.dtype == np.float64:
        return column if column.size and np.nanmax(column, initial=0.0) > 1e8 else column.astype(np.float32)
    if column.dtype == np.int64 and (not column.size or column.max() < 2**31):
        return column.astype(np.int32)
    return column
