"""What a chart says: all its data, in plain JSON, with units, the same in its table; nothing where there is nothing."""

import json
import re
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from analytics import wording
from dashboard.charts import (
    burst_lengths,
    durations,
    heatmap,
    max_burst_cdf,
    period_estimates,
    rate_trend,
    rerun_curve,
    retries,
    runs_per_day,
    savings,
    signature_share,
    value_tail,
    wait_curve,
)
from dashboard.charts.figure import day_axis
from dashboard.charts.rate import highest
from dashboard.charts.sparkline import rate_sparkline, verdict_strip
from tests.charts.samples import HOSTILE, LONG, SAMPLE_WAITS, SAMPLES, START, Sample, rate
from tests.conftest import ROOT

every_chart = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@pytest.mark.parametrize(
    ("runs", "executed", "days", "said"),
    [
        (4684, 400, 40, "about 15 months"),
        (100, 400, 40, "about 10 days"),
        (5, 400, 40, "less than a day"),
        (10, 0, 40, ""),
        (40, 2, 0.01, "about 3 weeks"),
    ],
)
def test_a_number_of_runs_says_about_when(runs: int, executed: int, days: float, said: str) -> None:
    assert wording.pace(runs, executed, days) == said


def drawn(figure: dict[str, Any] | None) -> dict[str, Any]:
    assert figure is not None
    return figure


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def test_every_module_that_draws_has_a_sample() -> None:
    modules = {path.stem for path in (ROOT / "dashboard" / "charts").glob("*.py") if "def chart(" in path.read_text()}
    assert modules == {sample.name for sample in SAMPLES}


@every_chart
def test_plotly_knows_all_that_a_figure_says(sample: Sample) -> None:
    """Plotly's own classes refuse an attribute that they do not know and a value that it cannot have."""
    figure = drawn(sample.chart(sample.data))
    assert len(go.Figure(figure).data) == len(figure["data"])


@every_chart
def test_a_figure_is_plain_json_and_small(sample: Sample) -> None:
    figure = drawn(sample.chart(sample.data))
    text = json.dumps(figure, allow_nan=False)
    assert json.loads(text) == figure
    assert len(text) < 40_000
    assert "template" not in figure["layout"]


@every_chart
def test_an_axis_says_what_it_measures(sample: Sample) -> None:
    layout = drawn(sample.chart(sample.data))["layout"]
    axes = [layout[name] for name in layout if re.fullmatch(r"[xy]axis\d?", name)]
    explained = [
        axis for axis in axes if axis.get("title", {}).get("text") or axis.get("tickvals") or axis.get("type") == "date"
    ]
    assert len(axes) >= 2
    assert explained == axes


@every_chart
def test_too_little_data_gives_no_chart_and_an_empty_table(sample: Sample) -> None:
    assert sample.chart(sample.empty) is None
    rows = sample.module.table(sample.empty).rows
    assert all("–" in row for row in rows)


@every_chart
def test_a_table_row_has_a_cell_for_each_header(sample: Sample) -> None:
    table = sample.module.table(sample.data)
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.headers)}


@every_chart
def test_names_are_shown_as_text_and_not_read_as_html(sample: Sample) -> None:
    ours = {"<br>", "<b>", "</b>", "<extra></extra>"}
    tags = {tag for text in strings(drawn(sample.chart(sample.data))) for tag in re.findall(r"<[^>]*>", text)}
    assert {tag for tag in tags if tag not in ours | {"<extra>", "</extra>"}} == set()
    assert not any("\u202e" in text for text in strings(sample.chart(sample.data)))


@every_chart
def test_colours_are_named_by_their_role(sample: Sample) -> None:
    style = (ROOT / "static" / "css" / "flakeboard.css").read_text()
    roles = {text for text in strings(drawn(sample.chart(sample.data))) if text.startswith("var(")}
    assert roles
    assert all(f"{role[4:-1]}:" in style for role in roles)


# -- what each one says ------------------------------------------------------------------------------------------


def test_runs_are_stacked_by_outcome_and_told_apart_without_colour() -> None:
    day = runs_per_day.DayOfRuns(START, passed=5, regression=1, broken=4, flaky=2, incident=3)
    figure = drawn(runs_per_day.chart(runs_per_day.RunsPerDay((day,))))
    parts = {trace["name"]: (trace["y"], trace["marker"].get("pattern", {}).get("shape")) for trace in figure["data"]}
    assert figure["layout"]["barmode"] == "stack"
    assert parts["failed only by flakiness"] == ([2], "/")
    assert parts["failed by a regression"] == ([1], None)
    assert parts["broken before"] == ([4], "\\")
    assert parts["incident"] == ([3], "x")
    assert runs_per_day.table(runs_per_day.RunsPerDay((day,))).rows == (("2026-03-02", "15", "5", "2", "1", "4", "3"),)


def test_a_trend_draws_no_band_across_days_without_executions() -> None:
    rates = [rate(1, 10), rate(2, 10), rate(0, 0), rate(3, 10), rate(1, 10)]
    days = tuple(rate_trend.DayRate(START + timedelta(days=place), one) for place, one in enumerate(rates))
    figure = drawn(rate_trend.chart(rate_trend.RateTrend(days)))
    bands = [trace["x"] for trace in figure["data"] if trace.get("fill") == "tonexty"]
    line = next(trace for trace in figure["data"] if trace.get("name") == "failure rate")
    assert bands == [["2026-03-02", "2026-03-03"], ["2026-03-05", "2026-03-06"]]
    assert line["y"] == [0.1, 0.2, None, 0.3, 0.1]


def test_a_trend_of_single_days_has_whiskers_in_place_of_a_band() -> None:
    figure = drawn(rate_trend.chart(rate_trend.RateTrend((rate_trend.DayRate(START, rate(1, 10)),))))
    line = next(trace for trace in figure["data"] if trace.get("name") == "failure rate")
    assert line["error_y"]["array"][0] > 0


@pytest.mark.parametrize(
    ("runs", "ticks"), [(1, {"dtick": 1}), (2, {"dtick": 1}), (3, {"nticks": 3}), (90, {"nticks": 3})]
)
def test_counts_of_a_trend_are_marked_at_whole_numbers(runs: int, ticks: dict[str, int]) -> None:
    figure = drawn(rate_trend.chart(rate_trend.RateTrend((rate_trend.DayRate(START, rate(0, runs)),))))
    axis = figure["layout"]["yaxis2"]
    assert {name: axis[name] for name in ("dtick", "nticks") if axis.get(name)} == ticks


def test_one_wide_interval_does_not_flatten_the_others() -> None:
    assert highest([rate(1, 1_000)] * 20 + [rate(0, 1)]) < 0.1


def test_bursts_are_cumulated() -> None:
    data = max_burst_cdf.MaxBurstCdf(((2, 1), (1, 3), (9, 0)))
    assert max_burst_cdf.table(data).rows == (("1", "3", "3", "75 %"), ("2", "1", "4", "100 %"))
    assert [text["text"] for text in drawn(max_burst_cdf.chart(data))["layout"]["annotations"]] == [
        "100 % of 4 flaky tests: at most 5 in a row"
    ]


def test_savings_say_how_many_fixes_save_four_fifths() -> None:
    fixes = tuple(savings.Fix(f"t{saved}", saved, saved - 1, saved + 1) for saved in (5, 8, 9))
    notes = drawn(savings.chart(savings.Savings(fixes, 10)))["layout"]["annotations"]
    assert [note["text"] for note in notes] == ["2 fixes save 80 % of 10 blocked runs"]
    notes = drawn(savings.chart(savings.Savings(fixes[:1], 10)))["layout"]["annotations"]
    assert [note["text"] for note in notes] == ["1 fix saves 50 % of 10 blocked runs"]


def test_the_three_rerun_numbers_are_marked_with_their_cost() -> None:
    numbers = (rerun_curve.RerunNumber("get past it", 3, 4.2), rerun_curve.RerunNumber("confirm a fix", None, None))
    data = rerun_curve.RerunCurve((1, 2, 3), (0.1, 0.2, 0.3), 0.95, numbers)
    marks = [(trace["x"], trace["name"]) for trace in drawn(rerun_curve.chart(data))["data"] if "name" in trace]
    assert marks == [([3, 3], "get past it: 3, 4.2 s")]
    assert rerun_curve.table(data).rows[1] == ("to confirm a fix", "more than the limit", "–")


def test_a_wait_of_no_time_has_a_place_on_the_log_axis() -> None:
    figure = drawn(wait_curve.chart(SAMPLE_WAITS))
    failing, took, now, proposed = figure["data"]
    assert failing["x"][0] == pytest.approx(0.03125 / 3, rel=1e-4) and failing["y"][0] == 1.0
    axis = figure["layout"]["xaxis"]
    assert axis["ticktext"][0] == "0 ms" and axis["tickvals"][0] == failing["x"][0]
    assert took["yaxis"] == "y2" and took["y"][0] is None
    assert (now["name"], proposed["name"]) == ("now: 500 ms", "proposed: 200 ms")
    removed = drawn(wait_curve.chart(replace(SAMPLE_WAITS, proposal=0.0)))["data"][3]
    assert removed["name"] == "proposed: none" and removed["x"][0] == failing["x"][0]


def test_durations_say_median_and_count_and_stay_small() -> None:
    data = durations.Durations(tuple(place / 1_000 for place in range(50_000)), (30.0,))
    figure = drawn(durations.chart(data))
    assert [annotation["text"] for annotation in figure["layout"]["annotations"]] == [
        "passing: median 25 s of 50,000 executions",
        "failing: median 30 s of 1 execution",
    ]
    assert len(json.dumps(figure)) < 15_000
    assert min(min(trace["x"]) for trace in figure["data"] if trace["type"] == "scatter") > 0
    assert durations.table(data).rows[0][:3] == ("passing", "50,000", "0 ms")


def test_bars_of_bursts_carry_their_counts() -> None:
    figure = drawn(burst_lengths.chart(burst_lengths.BurstLengths(((1, 1_200), (4, 2)))))
    assert (figure["data"][0]["x"], figure["data"][0]["text"]) == (["1", "4"], ["1,200", "2"])


def test_signatures_beyond_the_commonest_are_added_up() -> None:
    found = tuple(signature_share.SignatureCounts(f"s{place}", (place + 1, 0)) for place in range(9))
    data = signature_share.SignatureShare((START, START + timedelta(weeks=1)), found)
    figure = drawn(signature_share.chart(data))
    assert (figure["data"][-1]["name"], figure["data"][-1]["y"]) == ("3 other signatures", [6, 0])
    assert len(signature_share.table(data).rows) == 9
    looks = {(trace["marker"]["color"], str(trace["marker"].get("pattern"))) for trace in figure["data"]}
    assert len(looks) == len(figure["data"])


def test_a_heatmap_leaves_out_what_was_absent_and_crosses_what_failed() -> None:
    row = (heatmap.Cell.ABSENT, heatmap.Cell.PASSED, heatmap.Cell.FAILED)
    data = heatmap.Heatmap(("t",), ("7", "8", "9"), (row,))
    cells = drawn(heatmap.chart(data))["data"][0]
    assert (cells["z"], cells["text"]) == ([[None, 1, 2]], [["", "", "×"]])
    assert heatmap.table(data).rows == (("t", "1", "2", "9"),)


def test_the_recommended_number_of_retries_is_marked() -> None:
    steps = tuple(retries.RetryStep(n, rate(90 + n, 100), n * 10.0) for n in (1, 2, 3))
    figure = drawn(retries.chart(retries.Retries(steps, 2)))
    assert figure["data"][0]["marker"]["symbol"] == ["circle", "diamond", "circle"]
    assert "2 retries" in figure["layout"]["annotations"][0]["text"]
    assert [row[-1] for row in retries.table(retries.Retries(steps, 2)).rows] == ["", "recommended", ""]


# -- words ---------------------------------------------------------------------------------------------------------


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    name = wording.short(LONG, 40)
    assert (len(name), name[:5], name[-6:]) == (40, "tests", "-last]")


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (None, "–"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.9994, "99.9 %"),
        (0.9996, ">99.9 %"),
        (0.0871, "8.7 %"),
        (0.09, "9 %"),
        (0.00998, "1 %"),
        (0.0099, "0.99 %"),
        (0.00123, "0.12 %"),
        (0.005, "0.5 %"),
        (0.00005, "0.005 %"),
        (0.000001, "<0.001 %"),
    ],
)
def test_shares_are_said_with_the_digits_they_need(share: float | None, words: str) -> None:
    assert wording.percent(share) == words


def test_both_ends_of_an_interval_are_rounded_as_a_share_alone_is() -> None:
    assert wording.percents(0.00998, 0.0194) == "1–1.9 %"
    assert wording.percents(0.0, 1.0) == "0–100 %"


# -- days ----------------------------------------------------------------------------------------------------------


def _ticks(days: list[date]) -> list[date]:
    """Where plotly.js puts its ticks: each step from the origin that is within the range."""
    axis = day_axis(days)
    step = timedelta(milliseconds=axis["dtick"])
    low, high = (datetime.fromisoformat(end) for end in axis["range"])
    at = datetime.fromisoformat(axis["tick0"])
    at += step * -(-(low - at) // step)
    found = []
    while at <= high:
        found.append(at)
        at += step
    assert all(one.time() == time.min for one in found)
    return [one.date() for one in found]


def test_ticks_of_weeks_are_the_mondays_that_they_begin_with() -> None:
    weeks = [START + timedelta(weeks=place) for place in range(7)]
    assert _ticks(weeks) == weeks
    many = [START + timedelta(weeks=place) for place in range(60)]
    assert set(_ticks(many)) < set(many)
    assert len(_ticks(many)) <= 9


def test_one_day_alone_has_one_tick_which_is_that_day() -> None:
    assert _ticks([START]) == [START]


@pytest.mark.parametrize("count", [2, 8, 20, 45, 300])
def test_ticks_of_days_are_few_and_of_the_days_shown(count: int) -> None:
    days = [START + timedelta(days=3 + place) for place in range(count)]
    ticks = _ticks(days)
    assert ticks
    assert set(ticks) <= set(days)
    assert len(ticks) <= 9


@pytest.mark.parametrize(
    ("amount", "words"), [(0.0042, "4.2 ms"), (0.9999, "1 s"), (59.99, "1 min"), (208.6, "3.48 min"), (7_200, "2 h")]
)
def test_times_are_said_in_the_unit_that_fits(amount: float, words: str) -> None:
    assert wording.seconds(amount) == words


# -- sparklines ----------------------------------------------------------------------------------------------------


def test_a_sparkline_has_a_label_and_a_gap_where_nothing_is_known() -> None:
    picture = rate_sparkline([0.1, 0.2, None, 0.0, 0.4], "failure rate, 5 days")
    assert picture.count("<polyline") == 2
    assert 'role="img" aria-label="failure rate, 5 days"' in picture
    assert rate_sparkline([None], "x") == ""


def test_a_strip_tells_verdicts_apart_by_height() -> None:
    picture = verdict_strip([True, False, None], "last 3")
    heights = re.findall(r'class="fb-spark-(\w+)".*?height="(\d+)"', picture)
    assert heights == [("pass", "7"), ("fail", "18"), ("none", "2")]
    assert verdict_strip([], "x") == ""


@pytest.mark.parametrize("draw", [rate_sparkline, verdict_strip])
def test_a_sparkline_escapes_its_label(draw: Any) -> None:
    picture = draw([0.5, 0.5], HOSTILE) if draw is rate_sparkline else draw([True], HOSTILE)
    assert "<script" not in picture and '"quoted"' not in picture and "&lt;script&gt;" in picture


# -- colours -------------------------------------------------------------------------------------------------------


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _themes() -> list[dict[str, str]]:
    style = Path(ROOT / "static" / "css" / "flakeboard.css").read_text()
    blocks = [block for block in re.findall(r"\{([^}]*)\}", style) if "--fb-chart-pass:" in block]
    return [dict(re.findall(r"--fb-chart-(\w+): (#\w{6})", block)) for block in blocks]


@pytest.mark.parametrize("theme", _themes(), ids=["light", "dark"])
@pytest.mark.parametrize("role", ["pass", "fail", "flaky", "incident", "main", "other"])
def test_colours_stand_out_from_the_ground(theme: dict[str, str], role: str) -> None:
    assert _contrast(theme[role], theme["surface"]) >= 3
    assert _contrast(theme["text"], theme["surface"]) >= 4.5


def test_a_day_that_stands_alone_has_a_bar_that_can_be_seen() -> None:
    """Plotly takes a bar's width from the distance to its neighbours."""
    day = runs_per_day.DayOfRuns(date(2026, 5, 1), 3, 1, 0, 0, 0)
    alone = runs_per_day.chart(runs_per_day.RunsPerDay((day,)))
    assert alone is not None and all(trace["width"] > 3_600_000 for trace in alone["data"])
    two = runs_per_day.RunsPerDay((day, replace(day, day=date(2026, 5, 2))))
    beside = runs_per_day.chart(two)
    assert beside is not None and not any("width" in trace for trace in beside["data"])


def test_values_are_binned_whole_and_bounds_are_marked_with_their_number() -> None:
    sample = next(sample for sample in SAMPLES if sample.name == "value_tail")
    figure = drawn(sample.chart(sample.data))
    assert sum(figure["data"][0]["y"]) == 300
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["present bound 1.5", "proposed 2.75"]
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [1.5, 2.75]
    assert figure["layout"]["yaxis"]["type"] == "log"
    assert sum(int(row[2]) for row in sample.module.table(sample.data).rows) == 300
    least = replace(sample.data, values=(-1.7e308, 1.7e308))
    assert sum(drawn(sample.chart(least))["data"][0]["y"]) == 2


def test_values_far_apart_are_shown_by_powers_of_ten() -> None:
    values = tuple(10.0 ** (place / 25) for place in range(101))
    wide = value_tail.ValueTail(values, 100.0, 100_000.0, False)
    figure = drawn(value_tail.chart(wide))
    bars = next(trace for trace in figure["data"] if trace["type"] == "bar")
    ends = [(x - width / 2, x + width / 2) for x, width in zip(bars["x"], bars["width"], strict=True)]
    assert ends[0][0] == pytest.approx(min(values), rel=1e-3) and ends[-1][1] == pytest.approx(max(values), rel=1e-3)
    assert [end for _, end in ends[:-1]] == pytest.approx([start for start, _ in ends[1:]], rel=1e-3)
    layout, counts = figure["layout"], figure["data"][0]["y"]
    assert layout["xaxis"]["type"] == "log" and [shape["x0"] for shape in layout["shapes"]] == [100.0, 100_000.0]
    assert [note["x"] for note in layout["annotations"]] == pytest.approx([2.0, 5.0])
    assert sum(counts) == 101 and max(counts) <= 5
    with_zero = drawn(value_tail.chart(replace(wide, values=(0.0, *values))))
    assert "type" not in with_zero["layout"]["xaxis"]


def test_intervals_of_shares_are_written_as_in_tables() -> None:
    def row(*values: float, is_share: bool = True) -> str:
        point = period_estimates.PeriodEstimate("week", *values, "0 of 100 runs")
        return str(period_estimates.table(period_estimates.PeriodEstimates("week", (point,), "", is_share)).rows[0][2])

    assert row(0.0, 0.0, 0.037) == "0–3.7 %"
    assert row(0.05, 0.04, float("inf")) == "4 % to not bounded"
    assert row(3.0, 1.0, 8.25, is_share=False) == "1.0 to 8.2"
