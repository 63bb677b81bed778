"""A trend's own numbers beside published ones."""

from dataclasses import dataclass
from math import isnan

from analytics import wording
from analytics.kernel.trends.comparison import wilson
from dashboard.trends.comparison import days_words
from dashboard.trends.trend import Trend
from dashboard.web.insights.reruns import SPENT_PUBLISHED
from dashboard.web.insights.yardsticks import FAILED_BUILDS, FAILED_RUNS


@dataclass(frozen=True, slots=True)
class TrendYardstick:
    what: str
    here: str
    published: str


def trend_yardsticks(trend: Trend) -> list[TrendYardstick]:
    """Over all days that are shown."""
    counts = trend.whole.counts
    rows = [
        TrendYardstick("Failed by flakiness, of all runs", _share(counts.flaky, counts.runs), _published(FAILED_RUNS)),
        TrendYardstick(
            "Failed by flakiness, of failed runs", _share(counts.flaky, counts.failed), _published(FAILED_BUILDS)
        ),
        TrendYardstick("Days to fix, median", days_words(counts.time), "7 (mean 18), of flaky tests that were fixed"),
        TrendYardstick("Flaky again, of fixed tests", _share(counts.reopened, counts.fixed), "4 of 1,040 fixes"),
    ]
    if not trend.query.by_test:
        low, high = SPENT_PUBLISHED
        share = counts.rerun_share.value
        here = "not enough data" if isnan(share) else wording.percent(share)
        rows.append(TrendYardstick("Test time spent in reruns", here, f"{wording.percents(low, high)} (Google)"))
    return rows


def _share(part: int, whole: int) -> str:
    """With the interval that the rest of the page has: another one would make two of the same share."""
    share = wilson(min(part, whole), whole)
    if not share.is_known:
        return "not enough data"
    return f"{part:,} of {whole:,}, {wording.percent(share.value)} ({wording.percents(share.low, share.high)})"


def _published(values: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{value} ({where})" for value, where in values)
