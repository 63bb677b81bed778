"""Pages for tests alone: every chart with its sample, and a part that htmx swaps in."""

from django.http import HttpRequest, HttpResponse
from django.template import RequestContext, Template
from django.urls import include, path

from dashboard.charts.sparkline import rate_sparkline, verdict_strip
from tests.charts.samples import HOSTILE, SAMPLES

_PAGE = """{% extends "base.html" %}{% block heading %}<h1>Charts</h1>{% endblock %}{% block content %}
{% for id, title, figure, table in charts %}<div class="card mb-3"><div class="card-body">
{% include "partials/chart.html" with caption="What the picture shows, in one sentence." %}</div></div>{% endfor %}
<p id="sparks">{% for spark in sparks %}{{ spark|safe }} {% endfor %}</p>
<details id="fold"><summary>A fold</summary>{% with id="folded" title="Folded" %}{% include "partials/chart.html" with figure=one.0 table=one.1 %}{% endwith %}</details>
<button class="btn" hx-get="/part" hx-target="#part" hx-swap="innerHTML">Swap</button><div id="part"></div>
{% endblock %}"""
_PART = """{% include "partials/chart.html" %}"""


def _charts() -> list[tuple[str, str, object, object]]:
    shown = [(sample.name, sample.name.replace("_", " ").capitalize(), sample.data, sample) for sample in SAMPLES]
    nothing = ("nothing", "Nothing to draw", SAMPLES[0].empty, SAMPLES[0])
    return [(name, title, one.chart(data), one.module.table(data)) for name, title, data, one in [*shown, nothing]]


def gallery(request: HttpRequest) -> HttpResponse:
    """All of them, or with `?only=` the one of that name."""
    shares = [0.1, 0.4, 0.2, None, 0.0, 0.3, 0.25]
    sparks = [rate_sparkline(shares, HOSTILE), verdict_strip([True, False, None, True, True, False], "6 executions")]
    one = _charts()[6][2:]
    only = request.GET.get("only")
    shown = [chart for chart in _charts() if only in (None, chart[0])]
    return HttpResponse(
        Template(_PAGE).render(RequestContext(request, {"charts": shown, "sparks": sparks, "one": one}))
    )


def part(request: HttpRequest) -> HttpResponse:
    _, _, figure, table = _charts()[6]
    return HttpResponse(
        Template(_PART).render(
            RequestContext(request, {"id": "swapped", "title": "Swapped", "figure": figure, "table": table})
        )
    )


urlpatterns = [path("charts", gallery), path("part", part), path("", include("dashboard.urls"))]
