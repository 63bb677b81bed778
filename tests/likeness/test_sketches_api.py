"""Sketches that are sent: kept from the default branch alone, compared with a key, and hostile until checked."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from flakeboard.sketches.names import function_name
from flakeboard.sketches.sketch import key_id, key_of, sketch_of, words_of

from analytics.likeness.models import Prediction, PullRequestAnswer, TestSketch
from analytics.services import analysis_refresh
from dashboard.retention.services import retention_run
from ingest.models import Project, Run, Test
from tests.api_client import Program, code
from tests.conftest import Send
from tests.likeness.worlds import earning, few_executions, grown, is_flaky_class, names, new_tests, project

__all__ = ["earning", "few_executions", "grown", "project"]
KEY = key_of("shop")
FLAKY_SOURCE = (
    "def {}(worker):\n    worker.start()\n    time.sleep(0.1)\n    queue = worker.queue\n    assert queue.empty()"
)
STABLE_SOURCE = "def {}(cart):\n    cart.add(apple)\n    total = cart.total()\n    assert total == price"


def sent(name: str, source: str, classname: str = "shop.test_x", key: bytes = KEY, **more: object) -> dict[str, object]:
    made = sketch_of(words_of(source.format(name)), key)
    assert made is not None
    numbers = base64.b64encode(made.numbers).decode()
    fields = {"classname": classname, "name": name, "file": "", "words": made.words, "digest": made.digest}
    return {**fields, "sketch": numbers, **more}


def body(*tests: object, key: bytes = KEY, **more: object) -> dict[str, object]:
    return {"form": 1, "key_id": key_id(key), "commit": "c1", "branch": "main", "tests": list(tests), **more}


@pytest.fixture
def program(upload_token: str) -> Program:
    return Program(upload_token)


def sketches_of_all(key: bytes = KEY) -> list[dict[str, object]]:
    return [
        sent(name, FLAKY_SOURCE if is_flaky_class((group, name)) else STABLE_SOURCE, group, key)
        for group, name in names()
    ]


# -- what is kept ------------------------------------------------------------------------------------------------


def test_sketches_of_the_default_branch_are_kept_once(project: Project, program: Program) -> None:
    first, second = sent("test_a", FLAKY_SOURCE, written="2025-03-01"), sent("test_b", STABLE_SOURCE)
    asked = {"form": 1, "key_id": key_id(KEY), "digests": [first["digest"], second["digest"]]}
    assert program.post("sketches/known", **asked).json() == {"lacking": [0, 1]}
    assert program.post("sketches", **body(first)).json() == {"stored": 1, "why": ""}
    assert TestSketch.objects.get().written == datetime(2025, 3, 1, tzinfo=UTC)
    assert program.post("sketches/known", **asked).json() == {"lacking": [1]}
    assert program.post("sketches/known", **{**asked, "key_id": "0" * 8}).json() == {"lacking": [0, 1]}
    assert program.post("sketches", **body(first, sent("test_a[2]", FLAKY_SOURCE))).json()["stored"] == 1
    row = TestSketch.objects.get()
    assert row.written is None, "as it was sent last"
    assert len(bytes(row.numbers)) == 256 and row.commit == "c1"


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"branch": "feature"}, "it is not the default branch"),
        ({"branch": ""}, "no branch was said"),
    ],
)
def test_other_branches_teach_nothing(project: Project, program: Program, where: dict[str, str], why: str) -> None:
    assert program.post("sketches", **body(sent("test_a", FLAKY_SOURCE), **where)).json() == {"stored": 0, "why": why}
    assert not TestSketch.objects.exists()


def test_sketches_that_were_not_seen_again_go(project: Project, program: Program) -> None:
    old, new = sent("test_a", FLAKY_SOURCE), sent("test_b", STABLE_SOURCE)
    program.post("sketches", **body(old, new))
    TestSketch.objects.update(seen_at=timezone.now() - timedelta(days=91))
    program.post("sketches/known", form=1, key_id=key_id(KEY), digests=[new["digest"]])
    PullRequestAnswer.objects.create(project=project, commit="c", made_at=timezone.now() - timedelta(days=31))
    PullRequestAnswer.objects.create(project=project, commit="d", made_at=timezone.now() - timedelta(days=29))
    Prediction.objects.create(
        project=project, unit=b"1", number=0, score=1, made_at=timezone.now() - timedelta(days=401)
    )
    done = retention_run(project=project)
    assert (done["sketches"], done["answers"], done["predictions"]) == (1, 1, 1)
    assert bytes(TestSketch.objects.get().digest).hex() == new["digest"]


# -- hostile -----------------------------------------------------------------------------------------------------


def spoilt(**changes: object) -> dict[str, object]:
    return {**sent("test_a", FLAKY_SOURCE), **changes}


@pytest.mark.parametrize(
    "test",
    [
        spoilt(sketch=base64.b64encode(bytes(range(1, 256))).decode()),
        spoilt(sketch=base64.b64encode(bytes(256)).decode()),
        spoilt(sketch="no base64 at all!"),
        spoilt(sketch="A" * 10_000),
        spoilt(sketch=[1, 2]),
        spoilt(digest="zz"),
        spoilt(digest="A" * 32),
        spoilt(name=""),
        spoilt(name=7),
        spoilt(name="x" * 4_001),
        spoilt(words=True),
        spoilt(words=-1),
        spoilt(written="yesterday"),
        spoilt(source="def test(): pass"),
        "test_a",
    ],
)
def test_what_is_no_sketch_is_refused_by_name(project: Project, program: Program, test: object) -> None:
    for address in ("sketches", "predictions"):
        assert code(program.post(address, **body(sent("test_b", STABLE_SOURCE), test))) == (422, "bad_sketch")
    assert not TestSketch.objects.exists()


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"form": 2}, (422, "bad_sketch")),
        ({"form": True}, (422, "bad_sketch")),
        ({"key_id": "short"}, (422, "bad_sketch")),
        ({"tests": {}}, (422, "bad_sketch")),
        ({"commit": ""}, (422, "bad_sketch")),
        ({"commit": "c\n"}, (422, "bad_sketch")),
        ({"key": "secret"}, (422, "unknown_field")),
        ({"tests": [{"name": "t"}] * 5_001}, (413, "limit_sketches")),
    ],
)
def test_what_is_no_request_is_refused(project: Project, program: Program, changes: dict, answer: tuple) -> None:
    assert code(program.post("sketches", **{**body(), **changes})) == answer


def test_too_many_digests_and_sketches_are_refused(
    project: Project, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {"form": 1, "key_id": key_id(KEY), "digests": ["0" * 32] * 100_001}
    assert code(program.post("sketches/known", **many)) == (413, "limit_sketches")
    monkeypatch.setattr("analytics.likeness.sketches.MOST_SKETCHES", 2)
    three = [sent(f"test_{place}", FLAKY_SOURCE) for place in range(3)]
    assert code(program.post("sketches", **body(*three))) == (413, "limit_sketches")
    assert not TestSketch.objects.exists(), "refused as a whole"
    assert program.post("sketches", **body(*three[:2])).json()["stored"] == 2


def test_sketches_are_sent_so_often_an_hour(project: Project, program: Program, settings) -> None:
    settings.SKETCHES_PER_HOUR = 2
    for _ in range(2):
        assert program.post("predictions", **body()).status_code == 200
    assert code(program.post("predictions", **body())) == (429, "too_many_sketches")


def test_days_of_any_kind_are_read_or_left_out(project: Project, program: Program) -> None:
    days = ["0001-01-01", "9999-12-31", "2038-01-20", "2024-02-29T10:00:00+14:00", None, ""]
    tests = [sent(f"test_{place}", FLAKY_SOURCE, written=day) for place, day in enumerate(days)]
    assert program.post("sketches", **body(*tests)).json()["stored"] == len(days)
    assert [row.written is not None for row in TestSketch.objects.order_by("pk")] == [False] * 3 + [True] + [False] * 2


# -- what is compared --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("earning")
def test_tests_of_a_new_class_are_known_by_their_code(project: Project, program: Program, upload_token: str) -> None:
    analysis_refresh(project=project)
    assert program.post("sketches", **body(*sketches_of_all())).json()["stored"] == 120
    before = analysis_refresh(project=project).summary["prediction"]
    assert before["sketches"] == 120 and before["ignored"] == 0 and before["level"] is not None
    asked = body(
        sent("test_wait", FLAKY_SOURCE, "shop.test_00"),
        sent("test_price", STABLE_SOURCE, "shop.test_new"),
        sent("<script>alert(1)</script>", FLAKY_SOURCE, "shop.test_new"),
        branch="feature",
        pull_request="7",
    )
    answer = program.post("predictions", **asked).json()
    first, second, third = answer["results"]
    assert answer["speaks"] and answer["record"] == before["record"] and answer["why"] == ""
    assert first["word"] == "likely flaky" and first["like"] == 1.0 and first["beside"] == {"flaky": 10, "of": 10}
    assert first["runs_advised"] >= 2 and len(first["neighbours"]) == 7
    near = first["neighbours"][0]
    assert near["flaky"] and near["distance"] < 0.2 and near["name"].startswith("test_") and "causes" in near
    assert second["word"] == "" and second["like"] == 0.0 and second["beside"] == {"flaky": 0, "of": 0}
    assert third["name"] == "<script>alert(1)</script>" and third["like"] == 1.0
    kept = PullRequestAnswer.objects.get()
    assert (kept.commit, kept.pull_request) == ("c1", "7") and kept.results[0]["name"] == "test_wait"
    number = Test.objects.get(classname="shop.test_00", name="test_3").number
    shown = program.read(f"tests/{number}")["likeness"]
    assert shown["like"] == 1.0 and len(shown["neighbours"]) == 7
    assert number not in {near["number"] for near in shown["neighbours"]}, "a test is not its own neighbour"


@pytest.mark.usefixtures("earning")
def test_five_thousand_copies_in_a_pull_request_change_no_score(project: Project, program: Program) -> None:
    analysis_refresh(project=project)
    program.post("sketches", **body(*sketches_of_all()))
    analysis_refresh(project=project)
    question = body(sent("test_price", STABLE_SOURCE, "shop.test_new"), pull_request="7", branch="feature")
    before = program.post("predictions", **question).json()
    copy = sent("test_copy", FLAKY_SOURCE, "shop.test_new")
    copies = [{**copy, "name": f"test_{place}"} for place in range(5_000)]
    attack = body(*copies, branch="feature")
    assert program.post("sketches", **attack).json()["stored"] == 0
    answer = program.post("predictions", **{**attack, "pull_request": "8"})
    assert len(answer.json()["results"]) == 5_000 and len(PullRequestAnswer.objects.get(commit="c1").results) == 500
    rows = list(TestSketch.objects.order_by("pk").values_list("unit", "numbers"))
    assert len(rows) == 120
    analysis_refresh(project=project)
    assert program.post("predictions", **question).json() == before


@pytest.mark.usefixtures("earning")
def test_sketches_of_another_key_are_counted_and_left_out(
    project: Project, program: Program, admin_client: Client
) -> None:
    analysis_refresh(project=project)
    all_ = sketches_of_all()
    other = key_of("shop", "a secret of sixteen characters")
    program.post("sketches", **body(*all_[:100]))
    program.post("sketches", **body(*sketches_of_all(other)[100:], key=other))
    kept = analysis_refresh(project=project).summary["prediction"]
    assert (kept["sketches"], kept["ignored"]) == (100, 20)
    assert "20 sketches of tests cannot be compared" in admin_client.get("/projects/shop/setup").content.decode()
    foreign = body(sent("test_wait", FLAKY_SOURCE, "shop.test_00", other), key=other)
    (result,) = program.post("predictions", **foreign).json()["results"]
    assert result["like"] is None and result["neighbours"] == [] and result["beside"]["flaky"] == 10


@pytest.mark.usefixtures("earning")
def test_a_pull_requests_run_shows_what_it_was_answered(
    project: Project, send: Send, program: Program, admin_client
) -> None:
    analysis_refresh(project=project)
    program.post("sketches", **body(*sketches_of_all()))
    added = ("shop.test_new", "test_wait")
    new_tests(send, [added], build_id="pull", commit="pull", branch="feature", pull_request="9")
    analysis_refresh(project=project)
    question = body(sent("test_wait", FLAKY_SOURCE, "shop.test_new"), pull_request="9", branch="feature", commit="pull")
    (result,) = program.post("predictions", **question).json()["results"]
    run = Run.objects.get(project=project, build_id="pull")
    page = " ".join(admin_client.get(f"/projects/shop/runs/{run.pk}").content.decode().split())
    assert result["like"] == 1.0 and "7 of 7" in page.split('id="new-tests"')[1]


def test_before_the_first_analysis_nothing_is_thought_of_anything(project: Project, program: Program) -> None:
    answer = program.post("predictions", **body(sent("test_a", FLAKY_SOURCE))).json()
    assert not answer["speaks"] and answer["why"] == "nothing is analysed yet"
    assert answer["results"][0]["score"] is None


# -- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("test_x[a-b]", "test_x"),
        ("test_x[a[0]-]]", "test_x"),
        ("sums(int, int)[1]", "sums"),
        ("sums{int}[2]", "sums"),
        ("Adds(x: 1)", "Adds"),
        ("TestSum/negative/deep", "TestSum"),
        ("adds two numbers (again)", "adds two numbers (again)"),
        ("[1] a, b", "[1] a, b"),
        ("path/of/a title", "path/of/a title"),
        ("test_plain", "test_plain"),
        ("", ""),
    ],
)
def test_parameters_are_of_one_function(name: str, function: str) -> None:
    assert function_name(name) == function


def test_a_hostile_name_takes_no_time() -> None:
    assert function_name("a" + "[" * 500_000 + "]") == "a"
    assert function_name("(" * 500_000 + ")") == "(" * 500_000 + ")"
