"""A test's page and the API say where to rerun it."""

from django.test import Client

from analytics.models import TestFinding
from dashboard.templatetags.flakeboard import interval
from tests.web.analysed_project import Demo
from tests.web.listing import words_of


def flaky(demo: Demo) -> list[int]:
    return [row["number"] for row in demo.api.read("tests?state=flaky&page_size=500")["results"]]


def test_page_and_api_say_the_same_of_every_flaky_test(demo: Demo, reader: Client) -> None:
    seen = set()
    for number in flaky(demo):
        where = demo.api.read(f"reruns/{number}")["where"]
        finding = demo.api.read(f"tests/{number}")["finding"]
        related = [
            partner["role"] for partner in (finding["order"] or {"partners": []})["partners"] if partner["related"]
        ]
        if (finding["order"] or {"kind": ""})["kind"] in ("OD", "NDOD"):
            roles = {"polluter": "victim", "state-setter": "brittle"}
            assert where["dependence"] == (roles[related[0]] if related else "unclear")
        else:
            assert where["dependence"] == "other"
        assert [{name: rate[name] for name in ("context", "passed", "of")} for rate in where["rates"]] == finding[
            "contexts"
        ]
        if where["dependence"] in seen:
            continue
        seen.add(where["dependence"])
        page = words_of(reader, demo.at("test", number))
        assert f"Where to rerun it: {where['sentence']}" in page
        for one in where["rates"]:
            assert f"passed {one['passed']} of {one['of']} rerun" in page
            assert interval(one["low"], one["high"]) in page
    assert "other" in seen


def test_a_victims_page_says_to_rerun_it_alone(demo: Demo, reader: Client) -> None:
    number = flaky(demo)[0]
    found = TestFinding.objects.get(analysis__project=demo.project, analysis__current=True, number=number)
    partner = {"test": flaky(demo)[1], "role": "polluter", "p_value": 0.001, "related": True}
    order = {"kind": "OD", "p_value": 0.001, "failing_orders": 0.5, "orders": 4, "executions": 9, "explained": True}
    found.data["order"] = {**order, "random_orders": 0.5, "partners": [partner], "cleaners": []}
    found.save(update_fields=("data",))
    assert demo.api.read(f"reruns/{number}")["where"]["to_pass"] == "alone"
    assert "A victim of another test: rerun it alone to pass" in words_of(reader, demo.at("test", number))


def test_where_no_rerun_is_advised_nothing_is_said_of_where(demo: Demo, reader: Client) -> None:
    number = demo.api.read("tests?state=broken")["results"][0]["number"]
    assert demo.api.read(f"reruns/{number}")["where"] is None
    assert "Where to rerun it" not in words_of(reader, demo.at("test", number))
