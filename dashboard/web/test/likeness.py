"""The part of a test's page on tests like it: its neighbours, and what is predicted of it while it is new."""

from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics.columns.rows import TestRow, test_row
from analytics.history.names import names
from analytics.likeness.models import Prediction
from analytics.likeness.selectors import Likeness, likeness_of, prediction_of
from analytics.wording import counted
from dashboard.templatetags.flakeboard import interval
from dashboard.web.analysis import PageAnalysis
from dashboard.web.page_context import NOTHING, strong
from dashboard.web.test.sections import Section
from ingest.identity import TestName
from ingest.models import Project


def likeness_section(project: Project, now: PageAnalysis, name: TestName, row: TestRow) -> Section | None:
    """None where nothing is analysed."""
    found = likeness_of(now.analysis, name.number)
    if found is None or now.analysis is None:
        return None
    kept, said_before = now.analysis.summary["prediction"], prediction_of(project.pk, name)
    known = names(project.pk, tests=(near.number for near in found.neighbours))
    part: dict[str, Any] = {
        "sentence": likeness_sentence(found),
        "prediction": prediction_sentence(row, kept, said_before),
        "sketched": found.like is not None,
        "any_sketches": kept["sketches"] > 0,
        "neighbours": [
            (near, known.test(near.number), test_row(now.columns, near.number)) for near in found.neighbours
        ],
    }
    likely = row.prediction == Prediction.Word.LIKELY
    return Section("likeness", "Tests like it", _fact(found, likely), part, open=likely)


def _fact(found: Likeness, likely: bool) -> str:
    counts = [] if found.like is None else [f"{found.flaky_neighbours} of {len(found.neighbours)} like it"]
    counts += [f"{found.flaky_beside} of {found.beside} beside it"] if found.beside else []
    flaky = f"{' and '.join(counts)} are flaky" if counts else "nothing to compare it with"
    return f"likely flaky: {flaky}" if likely else flaky


def likeness_sentence(found: Likeness) -> str:
    """How many of the tests like it and beside it are flaky."""
    like = f"{found.flaky_neighbours} of the {len(found.neighbours)} tests most like it are flaky"
    beside = f"{found.flaky_beside} of the {found.beside} beside it"
    if found.like is not None and found.beside:
        return f"{like}, and {beside}."
    if found.like is not None:
        return f"{like}; none beside it is known."
    return f"{beside} are flaky." if found.beside else "No test of its class or file is known well enough to compare."


def runs_advised(row: TestRow, kept: dict[str, Any]) -> int:
    """How often to run a test that is likely flaky, to see; 0 where nothing is predicted."""
    return int(kept["runs_advised"]) if row.prediction == Prediction.Word.LIKELY and kept["record"] else 0


def prediction_sentence(row: TestRow, kept: dict[str, Any], before: Prediction | None) -> SafeString:
    """What is predicted while its own results do not tell, or how an earlier prediction turned out."""
    if advised := runs_advised(row, kept):
        record = kept["record"]
        right = f"of {record['of']:,} such predictions {record['right']:,} were right"
        limits, runs = interval(record["low"], record["high"]), counted(advised, "time")
        advice = "This is a guess by its neighbours and changes nothing else."
        return format_html("{}: {} ({}). Run it {} to see. {}", strong("Likely flaky"), right, limits, runs, advice)
    if before is None or before.right is None or before.word != Prediction.Word.LIKELY:
        return NOTHING
    turned_out = "it is flaky" if before.right else "it never failed since"
    right = "right" if before.right else "wrong"
    return format_html("It was called likely flaky on {}: {}, {}.", f"{before.made_at:%Y-%m-%d}", right, turned_out)
