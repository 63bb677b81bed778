"""Where a click on a chart leads: pages that are there and show what was clicked, for the keyboard too."""

import json
import re
from itertools import product
from typing import Any

from django.test import Client

from analytics.models import ClusterFinding
from dashboard.web.test.executions import ExecutionQuery
from tests.extent import WHOLE
from tests.web.analysed_project import Demo
from tests.web.listing import rows_of, words_of

_FIGURE = re.compile(r'<figure class="fb-chart" id="([\w-]+)">(.*?)</figure>', re.DOTALL)
_DATA = re.compile(r'type="application/json">(.*?)</script>', re.DOTALL)


def figures_of(reader: Client, address: str) -> dict[str, tuple[dict[str, Any], list[str]]]:
    """By id: the figure, and the links of its table."""
    page = reader.get(address).content.decode()
    found = {}
    for name, whole in _FIGURE.findall(page):
        data = _DATA.search(whole)
        if data:
            links = [
                link.replace("&amp;", "&") for link in re.findall(r'<a href="([^"]*)"', whole.split("<details>")[1])
            ]
            found[name] = json.loads(data[1]), links
    return found


def addresses_of(figure: dict[str, Any]) -> list[str]:
    """What the script makes of them."""
    meta = figure["layout"].get("meta", {})
    base = meta.get("base", "")
    points = [value for trace in figure["data"] for value in trace.get("customdata", ()) if value]
    cells = (
        (column, row)
        for row, values in zip(meta.get("rows", ()), figure["data"][0].get("z", ()), strict=False)
        for column, value in zip(meta["columns"], values, strict=True)
        if value
    )
    return [f"{base}{part}" for part in points] + [f"{base}{column}{row}" for column, row in cells]


def flaky_test(demo: Demo) -> int:
    return demo.api.read("tests?state=flaky&sort=-failed&page_size=1")["results"][0]["number"]


def cluster_address(demo: Demo) -> str:
    cluster = ClusterFinding.objects.filter(analysis=demo.analysis, view="together").first()
    return demo.at("cluster", "together", cluster.number)


def test_every_place_that_a_chart_leads_to_is_there(demo: Demo, reader: Client) -> None:
    pages = {
        demo.at("project"): {"runs-per-day", "flaky-rate"},
        demo.at("incidents"): {"timeline", "trend"},
        cluster_address(demo): {"heatmap"},
        demo.at("priorities"): {"savings"},
        demo.at("test", flaky_test(demo)): {"trend", "durations-chart"},
    }
    for page, expected in pages.items():
        figures = figures_of(reader, page)
        leading = {name: addresses_of(figure) for name, (figure, _) in figures.items()}
        assert expected <= {name for name, addresses in leading.items() if addresses}, page
        for name in expected:
            for address in dict.fromkeys(leading[name][:2] + leading[name][-2:]):
                assert reader.get(address).status_code == 200, address
            if name != "durations-chart":  # its table has quartiles; the executions are listed on the page
                assert figures[name][1] and set(figures[name][1]) & set(leading[name]), f"{name} needs a mouse"


def test_a_cell_of_the_heat_map_shows_that_test_in_that_run(demo: Demo, reader: Client) -> None:
    figure, links = figures_of(reader, cluster_address(demo))["heatmap"]
    meta = figure["layout"]["meta"]
    failed = [
        f"{meta['base']}{column}{row}"
        for row, values in zip(meta["rows"], figure["data"][0]["z"], strict=True)
        for column, value in zip(meta["columns"], values, strict=True)
        if value == 2
    ]
    assert sorted(failed) == sorted(links), "the table leads to every failure"
    assert re.search(r"\b(fail|error)\b", words_of(reader, failed[0]))


def test_a_day_of_the_trend_lists_its_executions_and_keeps_the_picture(demo: Demo, reader: Client) -> None:
    address = demo.at("test", flaky_test(demo))
    figure, links = figures_of(reader, address)["trend"]
    rates = [trace for trace in figure["data"] if trace["type"] == "bar"][0]
    busy = max(range(len(rates["y"])), key=lambda at: rates["y"][at])
    page = reader.get(rates["customdata"][busy])
    query: ExecutionQuery = page.context["query"]
    assert query.first_day and query.last_day and query.days in page.content.decode()
    assert page.context["page"].total >= rates["y"][busy] > 0
    assert {line.execution.placed_at.date() <= query.last_day for line in page.context["lines"]} == {True}
    assert {line.execution.placed_at.date() >= query.first_day for line in page.context["lines"]} == {True}
    again = figures_of(reader, rates["customdata"][busy])["trend"]
    assert again[0]["data"][0]["x"] == figure["data"][0]["x"], "what is around it stays"
    assert rates["customdata"][busy] in links


def test_a_week_of_incidents_lists_these_alone(demo: Demo, reader: Client) -> None:
    figure, _ = figures_of(reader, demo.at("incidents"))["trend"]
    weeks = figure["data"][0]
    for count, address in zip(weeks["y"], weeks["customdata"], strict=True):
        assert bool(count) == bool(address)
        if address:
            assert len([row for row in rows_of(reader, address) if row["incident"]]) == count


NO_DAYS = ("9999-12-31", "0001-01-01", "yesterday", "\0", "2026-13-40")


def test_a_day_that_is_none_is_no_error(demo: Demo, reader: Client) -> None:
    """Each parameter of each page with two of them in turn, and in `make whole` with all."""
    pages = [demo.at("incidents"), demo.at("runs"), demo.at("test", flaky_test(demo))]
    for place, (page, parameter) in enumerate(product(pages, ("week", "day", "from", "until"))):
        for asked in NO_DAYS if WHOLE else (NO_DAYS[place % 5], NO_DAYS[(place + 2) % 5]):
            assert reader.get(page, {parameter: asked}).status_code == 200, (page, parameter, asked)
