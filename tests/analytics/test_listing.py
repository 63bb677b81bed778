"""Tests filtered, sorted and paged by their columns: the same as a plain loop over rows would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.columns.codec import Columns, encode_columns
from analytics.columns.formulas import RERUN_STATES
from analytics.columns.query import Choice, Page, Sort, chosen_rows, sorted_rows, values
from analytics.columns.rows import test_row as row_of
from analytics.columns.rows import test_rows as rows_of
from analytics.columns.schema import CATEGORIES, ORDER_KINDS, PREDICTIONS, SORTABLE
from analytics.kernel.flakiness import State
from analytics.rerun_advice import rerun_advice

COUNTS = (
    *("failed", "executed", "skipped", "attempts_failed", "attempts_executed", "failed_default", "executed_default"),
    *(
        "in_incidents",
        "incidents",
        "contradictions",
        "recoveries",
        "reversals",
        "bursts",
        "longest_burst",
        "failed_again",
    ),
    *("cleared", "context", "to_get_past", "to_expose", "to_confirm", "clean", "causes", "blocked"),
)
FLOATS = ("low", "high", "seconds", "last_seen", "last_failure", "flaky_since", "cost", "cost_low", "cost_high")


def columns_of(rows: list[dict[str, float]]) -> Columns:
    """Columns from rows that name what is not zero; numbers rise by 3 from 5."""
    rows = [
        {"attempts_failed": row.get("failed", 0), "attempts_executed": row.get("executed", 0)} | row for row in rows
    ]
    stored = {
        "number": np.arange(len(rows), dtype=np.int32) * 3 + 5,
        **{
            name: np.array([row.get(name, 0) for row in rows], dtype=np.uint8)
            for name in ("state", "order_kind", "prediction")
        },
        **{
            name: np.array([row.get(name, -1) for row in rows], dtype=np.int32)
            for name in ("cluster", "signature_cluster")
        },
        **{name: np.array([row.get(name, 0) for row in rows], dtype=np.int32) for name in COUNTS},
        **{name: np.array([row.get(name, np.nan) for row in rows], dtype=np.float64) for name in FLOATS},
    }
    return Columns(encode_columns(stored))


def shown(columns: Columns, rows: np.ndarray) -> list[int]:
    return columns["number"][rows].tolist()


FLAKY = {"state": State.FLAKY, "failed": 2, "executed": 10}
MANY = columns_of(
    [
        {"state": State.STABLE, "executed": 100, "prediction": PREDICTIONS.index("likely")},
        FLAKY | {"causes": 1 << CATEGORIES.index("network") | 1, "order_kind": ORDER_KINDS.index("OD")},
        {"state": State.UNEXECUTED, "skipped": 4},
        FLAKY | {"failed": 5, "causes": 1, "cluster": 7, "cost": 3.0},
        {"state": State.BROKEN, "failed": 50, "executed": 50, "to_get_past": 3},
        FLAKY | {"executed": 20, "cluster": 7, "to_get_past": 2, "cost": 9.0},
    ]
)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(), [5, 8, 11, 14, 17, 20]),
        (Choice(state={"flaky", "broken"}), [8, 14, 17, 20]),
        (Choice(cause="network"), [8]),
        (Choice(cause=CATEGORIES[0]), [8, 14]),
        (Choice(order_kind="OD"), [8]),
        (Choice(prediction="likely"), [5]),
        (Choice(min_executed=20), [5, 17, 20]),
        (Choice(numbers=np.array([20, 11, 4])), [11, 20]),
        (Choice(state="flaky", min_executed=11), [20]),
        (Choice(cause="time"), []),
    ],
)
def test_filters_keep_what_they_name(choice: Choice, expected: list[int]) -> None:
    assert shown(MANY, chosen_rows(MANY, choice)) == expected


def test_a_filter_that_there_is_not_is_an_error_rather_than_an_empty_list() -> None:
    with pytest.raises(TypeError, match="colour"):
        Choice(colour="red")
    with pytest.raises(ValueError, match="flakey"):
        chosen_rows(MANY, Choice(state="flakey"))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("rate", [5, 20, 8, 14, 17, 11]),
        ("-rate", [17, 14, 8, 20, 5, 11]),
        ("-number", [20, 17, 14, 11, 8, 5]),
        ("executed", [11, 8, 14, 20, 17, 5]),
        ("to_get_past", [20, 5, 8, 11, 14, 17]),
        ("-cluster", [14, 20, 5, 8, 11, 17]),
    ],
)
def test_ties_go_by_number_and_what_has_no_value_comes_last(written: str, expected: list[int]) -> None:
    assert shown(MANY, sorted_rows(MANY, np.arange(6), Sort.read(written))) == expected


def test_every_column_sorts_both_ways() -> None:
    for name in SORTABLE:
        for written in (name, f"-{name}"):
            assert sorted(shown(MANY, sorted_rows(MANY, np.arange(6), Sort.read(written)))) == MANY["number"].tolist()


def test_a_cluster_is_called_by_its_lowest_test_and_keeps_its_cost_to_itself() -> None:
    assert np.nan_to_num(values(MANY, "cluster"), nan=-1).tolist() == [-1, -1, -1, 14, -1, 14]
    assert np.isnan(values(MANY, "cost")[[3, 5]]).all()
    assert row_of(MANY, 14).cost is None


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "state": st.sampled_from(State),
            "failed": st.integers(0, 3),
            "executed": st.integers(0, 5),
            "to_get_past": st.integers(0, 3),
            "seconds": st.sampled_from([float("nan"), 0.0, 1.5, 2.0]),
        }
    ),
    max_size=12,
)


@given(ROWS, st.sampled_from(["rate", "to_get_past", "seconds", "failed"]), st.booleans())
def test_sorting_is_that_of_a_plain_loop(rows: list[dict[str, float]], by: str, descending: bool) -> None:
    columns = columns_of(rows)

    def value(row: dict[str, float]) -> float | None:
        if by == "rate":
            return row["failed"] / row["executed"] if row["executed"] else None
        if by == "to_get_past":
            return row[by] if row["state"] in RERUN_STATES and row[by] else None
        return None if row[by] != row[by] else row[by]

    def key(at: int) -> tuple[bool, float, int]:
        told = value(rows[at])
        return (told is None, 0.0 if told is None else -told if descending else told, at)

    found = sorted_rows(columns, chosen_rows(columns, Choice()), Sort(by, descending))
    assert found.tolist() == sorted(range(len(rows)), key=key)


@given(st.integers(0, 40), st.integers(1, 12))
def test_pages_cover_a_list_once(total: int, size: int) -> None:
    pages = [Page(number, size, total) for number in range(1, Page(1, size, total).count + 1)]
    assert [one for page in pages for one in list(range(total))[page.span]] == list(range(total))
    assert all(page.exists for page in pages)
    assert not Page(len(pages) + 1, size, total).exists
    assert not Page(0, size, total).exists


def test_no_analysis_has_no_rows() -> None:
    nothing = Columns(b"")
    rows = chosen_rows(nothing, Choice(state="flaky", numbers=np.array([1])))
    assert sorted_rows(nothing, rows, Sort("rate")).tolist() == []
    assert rows_of(nothing, rows) == []


# -- rows --------------------------------------------------------------------------------------------------------


def test_a_row_has_plain_values_and_none_where_there_is_no_number() -> None:
    stable, flaky, absent = row_of(MANY, 5), row_of(MANY, 8), row_of(MANY, 6)
    assert (stable.state, stable.executed, stable.rate.value, stable.default_branch) == (State.STABLE, 100, 0.0, None)
    assert (flaky.causes, flaky.order_kind, flaky.seconds) == ((CATEGORIES[0], "network"), "OD", None)
    assert (absent.number, absent.state, absent.rate, absent.executed) == (6, State.UNEXECUTED, None, 0)
    assert (stable.prediction, flaky.prediction, absent.prediction) == ("likely", None, None)
    assert row_of(MANY, 11).rate is None
    assert type(flaky.failed) is int


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (5, "nothing in the window says that it is flaky"),
        (8, "rerun later or on another host"),
        (11, "it was not executed in the window"),
        (17, "it is broken: a rerun fails too"),
    ],
)
def test_a_missing_number_of_reruns_says_why(number: int, reason: str) -> None:
    reruns = row_of(MANY, number).reruns
    assert (reruns.to_get_past, reruns.reasons["to_get_past"]) == (None, reason)


def test_a_number_of_reruns_has_no_reason() -> None:
    reruns = row_of(MANY, 20).reruns
    assert (reruns.to_get_past, set(reruns.reasons)) == (2, {"to_expose", "to_confirm"})


# -- reruns of one test ------------------------------------------------------------------------------------------


def test_the_advice_states_its_chance_and_its_cost() -> None:
    rows = [
        FLAKY | {"to_get_past": 2, "to_expose": 3, "to_confirm": 8, "failed_again": 1, "cleared": 3, "seconds": 2.0}
    ]
    advice = rerun_advice(columns_of(rows), 5, {"in_process": (1.0, 1.0)}, 0.95)
    assert advice.fails_again.value == pytest.approx(2 / 6)
    assert 0 < advice.fails_again.low < 2 / 6 < advice.fails_again.high < 1
    chance = {point.n: point.chance for point in advice.exposure}
    assert chance[2] == pytest.approx(2 * 0.2 * 0.8)
    assert advice.expose.executions == pytest.approx(2 * chance[2] + 3 * (1 - chance[2]))
    assert advice.get_past.executions == pytest.approx((1 - (1 / 3) ** 2) / (1 - 1 / 3))
    assert (advice.confirm.executions, advice.confirm.seconds) == (8, 16.0)


def test_a_test_that_would_take_forever_to_expose_has_no_cost() -> None:
    advice = rerun_advice(columns_of([FLAKY | {"to_expose": 2**30, "seconds": 1.0}]), 5, {}, 0.95)
    assert (advice.expose.executions, advice.get_past.executions) == (None, None)


def test_nothing_is_advised_of_a_stable_test() -> None:
    advice = rerun_advice(MANY, 5, {"suite": (0.5, 0.5)}, 0.95)
    assert (advice.fails_again, advice.exposure, advice.confirm.executions) == (None, (), None)
