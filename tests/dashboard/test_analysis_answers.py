"""What all answers about an analysis share: before there is one, when it is known, when the question is wrong."""

import pytest

from analytics.services import analysis_refresh
from dashboard.api.analysis import view
from ingest.models import Project, Test, Token
from ingest.services import token_create
from tests.api_client import Program, code
from tests.dashboard.analysed import Analysed, incident_of
from tests.dashboard.openapi import Schema

LISTS = ("tests", "clusters", "incidents", "orders", "reruns", "priorities", "analyses")


# -- before, between and for others ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LISTS)
def test_before_the_first_analysis_lists_are_empty(empty: Program, path: str) -> None:
    answer = empty.read(path)
    assert (answer["analysis"], answer["total"], answer["results"]) == (None, 0, [])


def test_before_the_first_analysis_the_current_one_is_none(empty: Program) -> None:
    answer = empty.read("analyses/current")
    assert (answer["analysis"], answer["summary"], answer["refresh"]["running"]) == (None, None, False)


def test_before_the_first_analysis_a_test_has_a_name_and_no_numbers(empty: Program, shop: Analysed) -> None:
    seen = Test.objects.get(project=shop.project, name="flaky").first_seen
    Test.objects.create(project=Project.objects.get(slug="new"), number=0, digest=b"x", name="first", first_seen=seen)
    answer = empty.read("tests/0")
    assert (answer["analysis"], answer["test"]["name"], answer["age_days"]) == (None, "first", None)
    assert empty.read("reruns/0")["confidence"] is None


def paths(shop: Analysed) -> list[str]:
    number, report = shop.number("pair_a"), incident_of(shop).pk
    ones = (f"tests/{number}", f"clusters/together/{number}", f"incidents/{report}", f"reruns/{number}")
    return [*LISTS, "analyses/current", *ones]


def test_who_has_an_answer_gets_none(shop: Analysed, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {path: shop.reader.get(path) for path in paths(shop)}
    monkeypatch.setattr(view.AnalysisView, "_whole", lambda *args: pytest.fail("it was made again"))
    for path, answer in known.items():
        assert answer.headers["Cache-Control"] == "private, no-cache"
        for written in (answer.headers["ETag"], f'"x", {answer.headers["ETag"]}', "*"):
            again = shop.reader.get(path, **{"if-none-match": written})
            assert (again.status_code, again.content) == (304, b""), path
            assert again.headers["ETag"] == answer.headers["ETag"]


def test_a_new_analysis_and_another_question_have_other_etags(shop: Analysed) -> None:
    first, other = (shop.reader.get(path).headers["ETag"] for path in ("tests", "tests?sort=-rate"))
    assert first != other
    known = {path: shop.reader.get(path).headers["ETag"] for path in paths(shop)}
    analysis_refresh(project=shop.project)
    for path, etag in known.items():
        assert shop.reader.get(path, **{"if-none-match": etag}).status_code == 200, path


def test_an_analysis_that_is_replaced_while_it_is_read_is_read_again(
    shop: Analysed, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    current = view.current_analysis

    def replaced_once(project_id: int):
        analysis = current(project_id)
        reads.append(analysis.pk)
        if len(reads) == 1:
            analysis_refresh(project=shop.project)
        return analysis

    monkeypatch.setattr(view, "current_analysis", replaced_once)
    answer = shop.reader.read("priorities")
    assert (len(reads), answer["analysis"]["id"], answer["total"]) == (2, reads[1], 3)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("tests?sort=strange", "sort must be one of name, -name"),
        ("tests?sort=--rate", "sort must be one of"),
        ("tests?state=flakey", "state must be one or more of stable, flaky"),
        ("tests?cause=moon", "cause must be one of async wait"),
        ("tests?order_kind=UD", "order_kind must be one of OD"),
        ("tests?page=0", "page must be a whole number from 1"),
        ("tests?page=x", "page must be a whole number"),
        ("tests?page=2", "page must be at most 1"),
        ("tests?page=99999999999999999999", "page must be a whole number"),
        ("tests?page=" + "9" * 5000, "page must be a whole number"),
        ("tests?page_size=501", "page_size must be a whole number from 1 to 500"),
        ("tests?min_executed=-1", "min_executed must be a whole number from 0"),
        ("tests?min_executed=NaN", "min_executed must be a whole number from 0"),
        ("tests?text=%00", "text: Null characters are not allowed"),
        ("tests?text=" + "a" * 201, "text has at most 200 characters"),
        ("tests?stat=flaky", "There is no parameter 'stat'; there are page, page_size, state"),
        ("clusters?view=sideways", "view must be one of together, signature"),
        ("incidents?decided=maybe", "decided must be one of confirmed, rejected, none"),
        ("incidents?why=mercury", "why must be one of bulk, improbable, environment"),
        ("orders?kind=x", "kind must be one of OD, NDOD, NDOI, not enough data"),
        ("priorities?page=7", "page must be at most 1"),
        ("analyses?page_size=0", "page_size must be"),
    ],
)
def test_what_may_not_be_asked_is_answered_with_what_may(shop: Analysed, path: str, allowed: str) -> None:
    response = shop.reader.get(path)
    assert response.status_code == 422
    assert response.json()["error"]["code"] in ("invalid", "unknown_field")
    assert allowed in response.json()["error"]["sentence"]


@pytest.mark.parametrize(
    "path",
    ["tests/99999999999999999999", "tests/-1", "reruns/2147483648", "incidents/9223372036854775808"]
    + ["clusters/together/99999999999", "tests/" + "1" * 5000],
)
def test_numbers_that_nothing_has_are_404(shop: Analysed, path: str) -> None:
    assert shop.reader.get(path).status_code == 404


@pytest.mark.parametrize("body", ["[]", "null", '"confirmed"', '{"word": "\\u0000"}', '{"word": ["confirmed"]}'])
def test_a_decision_in_another_form_is_refused(shop: Analysed, body: str) -> None:
    response = shop.writer.post_raw(f"incidents/{incident_of(shop).pk}/decision", body)
    assert code(response) == (422, "invalid")


def test_a_decision_that_is_no_json_is_refused(shop: Analysed) -> None:
    assert code(shop.writer.post_raw(f"incidents/{incident_of(shop).pk}/decision", "{")) == (400, "bad_request")


def test_another_project_is_answered_like_none(shop: Analysed, empty: Program) -> None:
    foreign = token_create(project=Project.objects.get(slug="new"), name="y", scope=Token.Scope.READ)[1]
    for path in paths(shop):
        assert code(Program(foreign).get(path)) == (404, "not_found")
        assert code(Program("flk_read_" + "0" * 36).get(path)) == (401, "unauthenticated")


# -- the schema --------------------------------------------------------------------------------------------------


def test_answers_are_what_the_schema_says(shop: Analysed, empty: Program) -> None:
    schema = Schema()
    number, report = shop.number("victim"), incident_of(shop).pk
    operations = {
        **{f"{name}_list": name for name in LISTS},
        "analyses_current": "analyses/current",
        "tests_retrieve": f"tests/{number}",
        "clusters_retrieve": f"clusters/together/{shop.number('pair_a')}",
        "incidents_retrieve": f"incidents/{report}",
        "reruns_retrieve": f"reruns/{number}",
    }
    for operation_id, path in operations.items():
        schema.check(operation_id, 200, shop.reader.read(path))
        assert schema.operation(operation_id)["summary"] and schema.operation(operation_id)["description"]
    for name in (*LISTS, "analyses/current"):
        schema.check("analyses_current" if "/" in name else f"{name}_list", 200, empty.read(name))
    schema.check("tests_retrieve", 200, shop.reader.read(f"tests/{shop.number('polluter')}"))
    schema.check("incidents_decide", 200, shop.writer.post(f"incidents/{report}/decision", word="confirmed").json())
    schema.check("analyses_create", 202, shop.writer.post("analyses").json())


def test_the_check_of_answers_sees_a_wrong_one(shop: Analysed) -> None:
    answer = shop.reader.read("tests")
    answer["results"][0]["state"] = "strange"
    with pytest.raises(AssertionError, match="strange"):
        Schema().check("tests_list", 200, answer)
