"""`make scale` in small: its sizes, its sums, and that every step of it runs on a database of its own."""

import pytest

from bench import day, scale
from bench.scale import GIGABYTE, Plan
from tests.bench.running import assert_said, small_bench
from tests.extent import only_whole

# -- sizes and sums ----------------------------------------------------------------------------------------------


def test_the_whole_is_816_million_results() -> None:
    assert (Plan().results, Plan().whole) == (816_000_000, True)


@pytest.mark.parametrize(("part", "reports"), [(2, 8_160), (40, 384), (16_320, 96)])
def test_a_part_of_it_is_a_multiple_of_the_reports_that_are_made(part: int, reports: int) -> None:
    assert (Plan(part).reports, Plan(part).whole) == (reports, False)


def test_too_little_room_is_said_before_anything_is_begun() -> None:
    with pytest.raises(scale.TooLittleRoom, match=r"9\.5 GB of disk are needed .* and 5\.0 GB are free"):
        scale.check_room(Plan(), 5 * GIGABYTE)
    scale.check_room(Plan(), 10 * GIGABYTE)


def test_a_slice_is_whole_days_of_some_projects() -> None:
    """Reports are rounded up: the whole company is a little more than its day, never less."""
    assert day.Slice(1).executions == 59 * 5_000
    assert 350_000_000 <= day.Slice(1_200).executions < 1.02 * 350_000_000


def test_the_day_is_told_in_proportion() -> None:
    assert day.extrapolated(seconds=2.0, executions=3_500_000) == 200
    assert day.extrapolated(seconds=200.0, executions=350_000_000) == 200


# -- the whole of it ---------------------------------------------------------------------------------------------


@only_whole
@pytest.mark.processes
def test_all_steps_run() -> None:
    """How quick it was is not asked here."""
    size = ["--part", "680", "--tests", "500", "--made", "4", "--rounds", "1", "--slice", "1", "--slice-reports", "1"]
    said = small_bench("scale", *size)
    assert_said(
        said,
        "results in one project: 12,000  [ok: at least 12000]",
        "results in the window of an analysis: 3,000",
        "reports in it: 6",
        "backups made: 1  [ok: at least 1]",
        "retention ran: 1  [ok: at least 1]",
        "reports older than 274 days before: 6  [ok: at least 1]",
        "and after: 0  [ok: at most 0]",
        "measured: executions of 1 of 1,200 projects: 5,000",
    )
    assert any(line.startswith("from XML, the day: ") and line.endswith(" s") for line in said)
