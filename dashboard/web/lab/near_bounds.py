"""Near their bound: which assertions on random values fail more often than they should?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics.values.answers import near_their_bound
from analytics.values.sentences import number, percent
from analytics.values.series import series_of_project
from analytics.wording import counted
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.page_context import PageContext, strong
from dashboard.web.paging import numbered_page
from ingest.identity import TestName
from ingest.models import Project, ValueSeries

PAGE_SIZE = 50
_LOOKED_AT = 5_000
HEADERS = (
    *("test", "classname", "name", "file", "line", "op", "bound", "share", "low", "high", "values", "tail", "proposed"),
    *("origin", "environment", "advice"),
)


@dataclass(frozen=True, slots=True)
class NearRow:
    series: ValueSeries

    @property
    def test(self) -> TestName:
        return self.series.test.test_name

    @property
    def where(self) -> str:
        return f"{self.series.file}:{self.series.line}"

    @property
    def compared(self) -> str:
        what = {"share": "tolerance used ", "difference": "difference "}.get(self.series.answer["kind"], "")
        return f"{what}{self.series.op} {number(self.series.answer['bound'])}"

    @property
    def share(self) -> str:
        return percent(self.series.answer["present"]["share"])

    @property
    def ends(self) -> str:
        present = self.series.answer["present"]
        return f"{percent(present['low'])} to {percent(present['high'])}"


@project_page
def near_bounds(request: HttpRequest, project: Project) -> HttpResponseBase:
    known = list(series_of_project(project).exclude(answer={}).order_by("-updated_at", "-pk")[:_LOOKED_AT])
    near = near_their_bound(known)
    file = exported(request, f"{project.slug}-near-bounds", HEADERS, _cells(near))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(near), size=PAGE_SIZE)
    context = {
        "project": project,
        "lead": lead(PageContext.read(request, project), len(known), len(near)),
        "known": len(known),
        "page": page,
        "rows": [NearRow(row) for row in near[page.first - 1 : page.last]] if near else [],
    }
    return render(request, "lab/near_bounds.html", context)


def lead(page: PageContext, known: int, near: int) -> SafeString:
    """How many of the measured assertions may fail more often than they should."""
    if not known:
        return format_html("No assertion on random values has been measured yet.{}", page.help("bound"))
    if not near:
        measured = "The assertion that was measured fails" if known == 1 else f"All {known:,} measured assertions fail"
        return format_html("{} less often than tolerated.{}", measured, page.help("bound"))
    verb = "fails" if near == 1 else "fail"
    sentence = "{} of {} {}, or may fail, more often than tolerated.{}"
    return format_html(sentence, strong(counted(near, "assertion")), f"{known:,}", verb, page.help("bound"))


def _cells(near: list[ValueSeries]) -> Iterator[list[Any]]:
    for row in near:
        answer, present = row.answer, row.answer["present"]
        yield [
            *(row.test.number, row.test.classname, row.test.name, row.file, row.line, row.op, answer["bound"]),
            *(present["share"], present["low"], present["high"], answer["n"], answer["tail"]),
            *(answer["proposal"]["bound"], row.origin, row.environment, answer["advice"]),
        ]
