"""A build and a pull request: all jobs, shards and attempts as one answer, on the page and by the API."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.services import analysis_refresh
from dashboard.builds.links import BadAddress, checked_address, repository_at
from dashboard.builds.verdict import End, JobFacts, Verdict, end_of, verdict_of
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from ingest.models import Project, Run, Upload
from tests.conftest import Send
from tests.web.history import flaky_history, sent
from tests.web.test_pages import HOSTILE, at, text_of
from tests.web.test_run import group_of, lead_of

PR = {"branch": "topic", "pull_request": "7", "build_id": "900", "commit": "a" * 40}


@pytest.fixture
def known(project: Project, send: Send) -> list[Run]:
    runs = flaky_history(send)
    analysis_refresh(project=project)
    return runs


def api(client: Client, token: str, path: str, **query: object) -> dict:
    response = client.get(f"/api/v1/projects/shop/{path}", query, headers={"authorization": f"Bearer {token}"})
    assert response.status_code == 200, response.content
    return response.json()


# -- one answer --------------------------------------------------------------------------------------------------


def test_jobs_and_shards_are_one_list_in_which_each_test_is_once(
    page: Client, send: Send, known: list[Run], client: Client, read_token: str
) -> None:
    sent(send, 20, {"steady": "2 is not 3"}, "calm", **PR, job="unit", shard="1/2")
    sent(send, 20, {"flaky": "the cart is empty", "steady": "2 is not 3"}, "calm", **PR, job="unit", shard="2/2")
    sent(send, 20, {}, "smoke", **PR, job="e2e")
    shown = text_of(page, at("pull", "7"))
    assert lead_of(shown) == "2 of 4 tests failed: 1 is new and needs you, 1 is known flaky."
    assert group_of(shown, "new").count("Failed in unit, shard 1/2 ; unit, shard 2/2") == 1
    assert "in 2 of 3 runs of this pull request" in group_of(shown, "new")
    assert "Quarantine…" in group_of(shown, "new")
    assert "Rerun advice" in group_of(shown, "flaky")
    answer = api(client, read_token, "pulls/7")
    assert answer == api(client, read_token, "builds/900") | {"page": answer["page"]}
    assert (answer["verdict"], answer["sentence"]) == ("failed", lead_of(shown))
    assert [(row["name"], row["class"], row["jobs"]) for row in answer["failing"]] == [
        ("steady", "new", ["unit, shard 1/2", "unit, shard 2/2"]),
        ("flaky", "flaky", ["unit, shard 2/2"]),
    ]
    assert "2 of 3 runs of this pull request" in answer["failing"][0]["whose"]


def test_the_newest_attempt_counts_and_what_it_mended_is_named(
    page: Client, send: Send, client: Client, read_token: str
) -> None:
    sent(send, 20, {"steady": "no"}, "calm", **PR, job="unit")
    sent(send, 20, {}, "calm", **PR, job="lint")
    assert api(client, read_token, "builds/900")["verdict"] == "failed"
    sent(send, 21, {}, "steady calm", **PR, job="unit", attempt=2)
    answer = api(client, read_token, "builds/900")
    assert [(job["job"], job["attempt"], job["attempts"], job["end"]) for job in answer["jobs"]] == [
        ("unit", 2, 2, "passed"),
        ("lint", 1, 1, "passed"),
    ]
    assert (answer["verdict"], answer["failing"], len(answer["mended"])) == ("passed", [], 1)
    shown = text_of(page, at("build", "900"))
    assert "1 test failed in an earlier attempt and not in the newest: steady" in re.sub("<[^>]+>", "", shown)


def test_a_missing_shard_and_an_unread_upload_hold_a_green_build(
    send: Send, client: Client, read_token: str, project: Project
) -> None:
    sent(send, 20, {}, "steady", **PR, job="unit", shard="1/3")
    sent(send, 20, {}, "calm", **PR, job="unit", shard="3/3")
    answer = api(client, read_token, "builds/900")
    assert (answer["verdict"], answer["reasons"]) == (
        "incomplete",
        ["unit: 2 of 3 shards reported; missing: 2."],
    )
    sent(send, 20, {}, "smoke", **PR, job="unit", shard="2/3")
    assert api(client, read_token, "builds/900")["verdict"] == "passed"
    Upload.objects.create(
        project=project, metadata={"build_id": "900", "job": "e2e"}, run_key=b"k", content_digest=b"d", size=1
    )
    answer = api(client, read_token, "builds/900")
    assert (answer["verdict"], answer["reasons"]) == ("incomplete", ["1 upload of this build is not read yet."])


def test_the_gates_answer_decides_until_something_new_comes(send: Send, client: Client, read_token: str) -> None:
    def held_by_gate(exit_code: int, **metadata: object) -> None:
        run = sent(send, 20, {}, "steady calm", **{**PR, **metadata})
        gate_decide(decision=gate_ask(upload=run.upload_set.get(), exit_code=exit_code, runner=""))

    held_by_gate(0, job="unit")
    assert api(client, read_token, "builds/900")["jobs"][0]["end"] == "passed"
    held_by_gate(3, job="e2e")
    answer = api(client, read_token, "builds/900")
    assert (answer["verdict"], answer["jobs"][1]["end"]) == ("failed", "held")
    assert "The gate held back 1 job: e2e." in answer["reasons"]


@pytest.mark.parametrize(
    ("facts", "end"),
    [
        (JobFacts(), End.PASSED),
        (JobFacts(red=True), End.FAILED),
        (JobFacts(red=True, let_pass=True), End.EXCUSED),
        (JobFacts(red=True, let_pass=True, waiting=True), End.FAILED),
        (JobFacts(let_pass=True, held=True), End.HELD),
        (JobFacts(let_pass=True, waiting=True), End.INCOMPLETE),
        (JobFacts(damaged=True), End.INCOMPLETE),
        (JobFacts(ran=False), End.INCOMPLETE),
        (JobFacts(reported=False, ran=False), End.GONE),
    ],
)
def test_no_job_passes_on_less_than_everything(facts: JobFacts, end: End) -> None:
    assert end_of(facts) is end


def test_the_worst_job_is_the_verdict() -> None:
    assert verdict_of([End.PASSED, End.EXCUSED], []) is Verdict.PASSED
    assert verdict_of([End.PASSED], ["a shard"]) is Verdict.INCOMPLETE
    assert verdict_of([End.PASSED, End.GONE, End.HELD], ["a shard"]) is Verdict.FAILED
    assert verdict_of([], []) is Verdict.INCOMPLETE


# -- which runs --------------------------------------------------------------------------------------------------


def test_without_a_build_id_commit_and_branch_are_the_build(
    page: Client, send: Send, client: Client, read_token: str
) -> None:
    facts = {**PR, "build_id": "", "pull_request": ""}
    red = sent(send, 20, {"steady": "no"}, "", **facts, job="unit")
    sent(send, 20, {}, "calm", **facts, job="lint")
    sent(send, 20, {}, "calm", **{**facts, "branch": "other"}, job="lint")
    answer = api(client, read_token, f"commits/{'a' * 40}", branch="topic")
    assert ([job["job"] for job in answer["jobs"]], answer["verdict"]) == (["unit", "lint"], "failed")
    assert unescape(re.search(r'href="(/projects/shop/commits/[^"]+)"', text_of(page, at("run", red.pk)))[1]) == (
        f"{at('commit', 'a' * 40)}?branch=topic"
    )


def test_a_pull_request_is_its_newest_commit_even_where_an_older_one_runs_again(
    send: Send, client: Client, read_token: str
) -> None:
    sent(send, 20, {"steady": "no"}, "", **PR, job="unit")
    sent(send, 21, {}, "steady", **{**PR, "commit": "b" * 40, "build_id": "901"}, job="unit")
    sent(send, 22, {"steady": "no"}, "", **PR, job="unit", attempt=2)
    answer = api(client, read_token, "pulls/7")
    assert (answer["commit"], answer["verdict"]) == ("b" * 40, "passed")


def test_a_fork_neither_replaces_a_commit_nor_an_attempt(
    page: Client, send: Send, client: Client, read_token: str
) -> None:
    sent(send, 20, {"steady": "no"}, "", **PR, job="unit")
    for metadata in ({**PR, "attempt": 2}, {**PR, "commit": "b" * 40, "build_id": "901"}):
        run = sent(send, 23, {}, "steady", **metadata, job="unit", fork=True)
        Run.objects.filter(pk=run.pk).update(untrusted=True)
    answer = api(client, read_token, "pulls/7")
    assert (answer["commit"], answer["verdict"]) == ("a" * 40, "failed")
    assert "from a fork, not counted" in text_of(page, at("pull", "7"))


def test_runs_and_builds_of_others_are_not_found(page: Client, send: Send, client: Client, read_token: str) -> None:
    sent(send, 20, {}, "steady", **PR)
    for path in ("builds/901", "builds/90%00", "pulls/8", "pulls/7%00", f"commits/{'a' * 40}"):
        assert page.get(f"/projects/shop/{path}").status_code == 404
        token = {"authorization": f"Bearer {read_token}"}
        assert client.get(f"/api/v1/projects/shop/{path}", headers=token).status_code == 404


def test_a_hostile_build_is_shown_and_linked_as_text(page: Client, send: Send, project: Project) -> None:
    project.repository_url = "https://github.com/shop/shop"
    project.save()
    facts = {**PR, "build_id": HOSTILE, "pull_request": '7"><script>', "build_url": "javascript:alert(1)"}
    sent(send, 20, {HOSTILE: HOSTILE}, "", **facts, job=HOSTILE)
    for address in (at("build", HOSTILE), at("pull", '7"><script>'), at("runs")):
        shown = text_of(page, address)
        assert "<script>alert" not in shown
        assert "javascript:" not in shown
    assert 'href="https://github.com/shop/shop/pull/7%22%3E%3Cscript%3E"' in text_of(page, at("build", HOSTILE))


# -- links -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "commit", "compare", "pull"),
    [
        ("https://github.com/o/r", "/commit/b", "/compare/a...b", "/pull/7"),
        ("https://gitlab.example/g/s/r", "/-/commit/b", "/-/compare/a...b", "/-/merge_requests/7"),
        ("https://bitbucket.org/o/r", "/commits/b", "/branches/compare/b..a", "/pull-requests/7"),
        ("https://codeberg.org/o/r", "/commit/b", "/compare/a...b", "/pulls/7"),
        (
            "https://dev.azure.com/o/p/_git/r",
            "/commit/b",
            "/branchCompare?baseVersion=GCa&targetVersion=GCb",
            "/pullrequest/7",
        ),
    ],
)
def test_links_follow_from_the_repository(address: str, commit: str, compare: str, pull: str) -> None:
    repository = repository_at(checked_address(f"{address}.git/"))
    links = (repository.commit("b"), repository.compare("a", "b"), repository.pull("7"))
    assert links == tuple(address + end for end in (commit, compare, pull))


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "ftp://h/o/r",
        "https://u:p@h/o/r",
        "https://h/",
        "https://h/o/r?x",
        'https://h/o/"r',
        "//h/o",
    ],
)
def test_an_address_that_nobody_should_follow_is_refused(page: Client, project: Project, address: str) -> None:
    with pytest.raises(BadAddress):
        checked_address(address)
    assert page.post(at("project_repository"), {"repository_url": address}).status_code == 422


# -- cost --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 4])
def test_queries_of_a_build_do_not_grow_with_its_jobs(page: Client, send: Send, known: list[Run], jobs: int) -> None:
    for job in range(jobs):
        sent(
            send,
            20,
            {f"t{i}": "no" for i in range(jobs)} | {"flaky": "the cart is empty"},
            "steady",
            **PR,
            job=str(job),
        )
    text_of(page, at("pull", "7"))
    with CaptureQueriesContext(connection) as queries:
        text_of(page, at("pull", "7"))
    assert len(queries) <= 44, (len(queries), [query["sql"][:90] for query in queries])
