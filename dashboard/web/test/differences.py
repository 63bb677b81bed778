"""The part of a test's page on what differs when it fails: the answer first, then what it rests on."""

import shlex
from collections.abc import Mapping
from typing import Any

from analytics.kernel.causes.remedies import remedy
from analytics.lab.names import reference_of
from analytics.why.answers import NOT_TRACED, WhyAnswer, why_answer_of
from analytics.wording import counted
from dashboard.charts import role_spans, run_values
from dashboard.charts.figure import Chart, draw
from dashboard.charts.role_spans import RoleSpans, Span
from dashboard.charts.run_values import RunValues
from dashboard.web.test.sections import Section
from ingest.models import Project, Test

TRACING = "pytest --flakeboard-trace=flaky --flakeboard-upload"
_CAPTIONS = {
    "shares": "Each mark is a run: whether it was as the first difference says.",
    "values": "Each mark is a run.",
    "order": "When the calls usually began and ended: medians of all runs.",
}
_TIERS = {1: "separates", 2: "separates; may be chance", 3: "goes with failures"}


def difference_section(project: Project, test: Test, *, failed: bool) -> Section | None:
    """The section; None for a test that neither failed nor was traced."""
    answer = why_answer_of(project, test.number)
    if not failed and answer.verdict == NOT_TRACED and answer.experiment is None:
        return None
    data = answer.finding.data if answer.finding is not None else {}
    part: dict[str, Any] = {
        "answer": answer,
        "compared": compared(data.get("runs"), len(answer.differences)),
        "runs": data.get("runs"),
        "differences": [_row(each) for each in answer.differences],
        "chain": [_row(each) for each in data.get("chain", [])],
        "symptoms": data.get("symptoms", []),
        "by_signature": data.get("by_signature", []) if len(data.get("by_signature", [])) > 1 else [],
        "sources": data.get("sources", {}),
        "left_out": data.get("left_out", 0),
        "chart": _chart(data.get("picture")),
        "caption": _CAPTIONS.get((data.get("picture") or {}).get("kind", ""), ""),
        "remedy": remedy(_category(answer)),
        "commands": _commands(test, answer),
        "experiment": answer.experiment.experiment if answer.experiment is not None else None,
        "recipe": answer.experiment.data.get("command") if answer.experiment is not None else "",
        "recipes": answer.experiment.data.get("recipes", []) if answer.experiment is not None else [],
    }
    is_known = answer.finding is not None or answer.experiment is not None
    return Section("differences", "What differs when it fails", fact_of(answer), part, open=is_known)


def compared(runs: Mapping[str, Any] | None, differences: int) -> str:
    """What the answer rests on, in the line above its folded picture and table; nothing where nothing was compared."""
    found = counted(differences, "difference")
    if runs is None:
        return f"{found}, with the chance of each" if differences else ""
    return f"{found} between {runs['failing']:,} failing and {runs['passing']:,} passing executions"


def fact_of(answer: WhyAnswer) -> str:
    """The fact beside the title."""
    return (
        "not traced yet"
        if answer.verdict == NOT_TRACED and answer.experiment is None
        else answer.sentence.replace("`", "")
    )


def _row(difference: Mapping[str, Any]) -> dict[str, Any]:
    return {**difference, "tier_words": _TIERS.get(difference["tier"], "")}


def _category(answer: WhyAnswer) -> str:
    shown = answer.shown
    if shown is not None:
        return str(shown["category"])
    return answer.finding.category if answer.finding is not None else ""


def _commands(test: Test, answer: WhyAnswer) -> list[tuple[str, str]]:
    """What brings an answer, or a better one: id and command."""
    if answer.is_shown:
        return []
    looking = ("why-command", f"flakeboard why {shlex.quote(reference_of(test.test_name))}")
    return [("trace-command", TRACING), looking] if answer.verdict == NOT_TRACED else [looking]


def _chart(picture: Mapping[str, Any] | None) -> Chart | None:
    if picture is None:
        return None
    if picture["kind"] == "order":
        return draw(role_spans, RoleSpans(tuple(Span(**span) for span in picture["spans"])))
    if picture["kind"] == "shares":
        sides = {side: _yes_no(*picture[side]) for side in ("failing", "passing")}
        return draw(run_values, RunValues(**sides, is_yes_no=True))
    values = {side: tuple(picture[side]) for side in ("failing", "passing")}
    return draw(run_values, RunValues(**values, unit=picture["unit"]))


def _yes_no(yes: int, of: int) -> tuple[float, ...]:
    return (1.0,) * yes + (0.0,) * (of - yes)
