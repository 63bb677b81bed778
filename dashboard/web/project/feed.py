"""An Atom feed of a project's flaky tests, those that turned flaky last first."""

import re

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape

from analytics import wording
from analytics.columns.rows import TestRow
from analytics.history.names import TestName, names
from dashboard.web.analysis import page_analysis
from dashboard.web.ansi import without_escapes
from dashboard.web.insights.overview import named, newest_flaky
from dashboard.web.public_access import cached, for_readers
from ingest.models import Project

ENTRIES = 50
_NOT_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
_LONGEST_TITLE = 200


@for_readers
def flaky_feed(request: HttpRequest, project: Project) -> HttpResponse:
    now = page_analysis(project)
    version = now.analysis.pk if now.analysis else None
    return cached(
        request,
        ("feed", version),
        lambda: _written(project, newest_flaky(now.columns, ENTRIES)),
        Atom1Feed.content_type,
    )


def _written(project: Project, rows: list[TestRow]) -> str:
    here = settings.PUBLIC_URL
    feed = Atom1Feed(
        title=f"{_text(project.name)}: flaky tests",
        link=here + reverse("project", args=(project.slug,)),
        description="Tests that turned flaky, newest first.",
        feed_url=here + reverse("flaky_feed", args=(project.slug,)),
    )
    for row, name in named(rows, names(project.pk, tests=[row.number for row in rows])):
        assert row.flaky_since is not None
        link = here + reverse("test", args=(project.slug, row.number))
        feed.add_item(
            title=f"{_short(name.name)} is flaky",
            link=link,
            description=escape(_sentence(row, name)),  # a summary is read as HTML, a title is not
            unique_id=f"{link}#flaky-since-{row.flaky_since:%Y-%m-%dT%H:%M:%SZ}",
            pubdate=row.flaky_since,
            updateddate=row.flaky_since,
        )
    return feed.writeString("utf-8")


def _sentence(row: TestRow, name: TestName) -> str:
    where = f" Class {_text(name.classname)}." if name.classname else ""
    causes = f" Causes: {', '.join(row.causes)}." if row.causes else ""
    assert row.rate is not None
    interval = f"{wording.percent(row.rate.low)} to {wording.percent(row.rate.high)}"
    return f"Failed {row.failed:,} of {row.executed:,} runs ({interval}).{causes}{where}"


def _short(text: str) -> str:
    plain = _text(text)
    return plain if len(plain) <= _LONGEST_TITLE else plain[: _LONGEST_TITLE - 1] + "…"


def _text(text: str) -> str:
    """Without what XML cannot hold."""
    return _NOT_XML.sub("\ufffd", without_escapes(text))
