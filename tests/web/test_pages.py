"""What a person sees in the browser."""

import re
import time

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dashboard.ops.start_message import sign_in_address
from dashboard.web.ansi import without_escapes
from dashboard.web.paging import keyset_page
from dashboard.web.project import uploads as upload_page
from ingest.metadata import RunMetadata
from ingest.models import Project, Rename, Run, Test, Token, Upload
from ingest.processing import upload_process
from ingest.selectors import runs_of
from ingest.services import project_create, token_create, upload_receive
from tests.conftest import Send, body_of
from tests.extent import WHOLE
from tests.web.reading import flat

HOSTILE = "<script>alert('x')</script> \"quoted\" & \u202ereversed\u202c 🎉"


def escaped(text: str) -> str:
    for plain, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(plain, entity)
    return text


def report(*cases: str) -> bytes:
    return f"<testsuite name='s'>{''.join(cases)}</testsuite>".encode()


def passing(name: str = "t") -> str:
    return f"<testcase classname='c' name={_quoted(name)} time='0.5'/>"


def failing(name: str = "t", message: str = "no", text: str = "") -> str:
    failure = f"<failure type='AssertionError' message={_quoted(message)}>{escaped(text)}</failure>"
    return f"<testcase classname='c' name={_quoted(name)} time='0.5'>{failure}</testcase>"


def _quoted(text: str) -> str:
    return f'"{escaped(text)}"'


def text_of(client: Client, address: str, **query: object) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, address
    return flat(response)


def at(name: str, *args: object) -> str:
    return reverse(name, args=("shop", *args))


# -- who may see what --------------------------------------------------------------------------------------------

GETS = [
    ("home", ()),
    ("password", ()),
    ("project_create", ()),
    ("project", ("shop",)),
    ("analysis_status", ("shop",)),
    ("runs", ("shop",)),
    ("tests", ("shop",)),
    ("setup", ("shop",)),
    ("first_upload", ("shop",)),
    ("run", ("shop", 1)),
    ("case", ("shop", 1, 1)),
    ("test", ("shop", 1)),
    ("uploads", ("shop",)),
    ("upload", ("shop", 1)),
    ("upload_part", ("shop", 1)),
]
POSTS = [
    ("setup", ("shop",)),
    ("project_create", ()),
    ("token_revoke", ("shop", 1)),
    ("rename_decide", ("shop", 1)),
    ("upload_reprocess", ("shop", 1)),
]


@pytest.mark.parametrize(("name", "args"), GETS)
def test_anonymous_is_sent_to_sign_in(client: Client, project: Project, name: str, args: tuple) -> None:
    address = reverse(name, args=args)
    response = client.get(address)
    assert (response.status_code, response.url) == (302, f"/sign-in?next={address}")


@pytest.mark.parametrize(("name", "args"), POSTS)
def test_anonymous_can_change_nothing(client: Client, project: Project, name: str, args: tuple) -> None:
    response = client.post(reverse(name, args=args), {"name": "x", "scope": "upload"})
    assert response.status_code == 302
    assert response.url.startswith("/sign-in?next=")
    assert not Token.objects.exists()


def test_an_update_for_somebody_signed_out_loads_the_whole_page(client: Client, project: Project) -> None:
    response = client.get(at("first_upload"), headers={"HX-Request": "true"})
    assert (response.status_code, response.headers["HX-Refresh"]) == (204, "true")


@pytest.mark.parametrize(("name", "args"), [entry for entry in GETS if "shop" in entry[1]])
def test_a_missing_project_is_not_found(page: Client, name: str, args: tuple) -> None:
    assert page.get(reverse(name, args=("nope", *args[1:]))).status_code == 404


def test_what_belongs_to_another_project_is_not_found(page: Client, send: Send) -> None:
    other = project_create(slug="other", name="Other")
    upload = send(report(failing()), to=other)
    token, _ = token_create(project=other, name="ci", scope="upload")
    gets = [at("run", upload.run_id), at("upload", upload.pk), at("test", 0), at("case", upload.run_id, 0)]
    posts = [at("token_revoke", token.pk), at("upload_reprocess", upload.pk)]
    assert [page.get(get).status_code for get in gets] == [404] * 4
    assert [page.post(post).status_code for post in posts] == [404] * 2
    assert Token.objects.get().revoked_at is None


def test_a_one_time_link_works_once(person: User) -> None:
    path = sign_in_address(person).split("localhost:8000")[-1]
    first, second = Client(), Client()
    for look in (first.get, first.head, second.get):  # as chats and mail scanners do
        assert look(path).status_code == 200
    assert "Sign in as" in first.get(path).content.decode()
    assert first.get("/").status_code == 302
    assert first.post(path).url == "/"
    assert first.get("/").status_code == 200
    assert second.get(path).status_code == 403
    response = second.post(path)
    assert response.status_code == 403
    assert "Link not valid" in response.content.decode()
    assert second.get("/").status_code == 302


def test_sign_in_by_password_goes_where_one_wanted_to_go(person: User, project: Project) -> None:
    client = Client()
    wrong = client.post("/sign-in", {"username": "kim", "password": "wrong"})
    assert "correct username and password" in wrong.content.decode()
    right = client.post("/sign-in", {"username": "kim", "password": "a-long-password", "next": at("uploads")})
    assert right.url == at("uploads")


def test_a_password_is_chosen_and_the_session_stays(page: Client, person: User) -> None:
    assert "10 characters" in text_of(page, "/password")
    new = {"new_password1": "another-password-1", "new_password2": "another-password-1"}
    assert page.post("/password", new).status_code == 200
    assert page.post("/password", {"old_password": "a-long-password", **new}).url == "/"
    assert "Your password is set." in text_of(page, "/")


# -- hostile text ------------------------------------------------------------------------------------------------


def test_a_hostile_name_is_shown_escaped_on_every_page(page: Client, send: Send, project: Project) -> None:
    Project.objects.update(name=HOSTILE)
    upload = send((f"{HOSTILE}.xml", report(failing(HOSTILE, HOSTILE, HOSTILE))), branch=HOSTILE, job=HOSTILE)
    token_create(project=project, name=HOSTILE, scope="upload")
    number = Test.objects.get().number
    run = upload.run_id
    addresses = [
        "/",
        at("project"),
        at("runs"),
        at("tests"),
        at("run", run),
        at("case", run, number),
        at("test", number),
        at("uploads"),
    ]
    for address in [*addresses, at("upload", upload.pk), at("setup")]:
        shown = text_of(page, address)
        assert "<script>alert" not in shown, address
        assert escaped(HOSTILE) in shown, address
        assert not re.search(r"<script(?![^>]* (src=|type=\"application/json\"))", shown), address
        assert not re.search(r"\son\w+\s*=", re.sub(r"&[^;]+;", "", shown)), address


def test_a_very_long_name_is_cut_in_lists_and_whole_on_its_page(page: Client, send: Send) -> None:
    name = "test_" + "x" * 3_900
    upload = send(report(failing(name)))
    number = Test.objects.get().number
    assert name not in text_of(page, at("run", upload.run_id))
    assert at("test", number) in text_of(page, at("run", upload.run_id))
    assert name in text_of(page, at("test", number))


@pytest.mark.parametrize(("address", "linked"), [("https://ci.example/1", True), ("javascript:alert(1)", False)])
def test_only_web_addresses_are_linked(page: Client, send: Send, address: str, linked: bool) -> None:
    upload = send(report(passing()), build_url=address)
    for shown in (text_of(page, at("run", upload.run_id)), text_of(page, at("upload", upload.pk))):
        assert (f'href="{address}"' in shown) is linked
        assert address in shown


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("#x1B[1;31mred#x1B[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("a\x1b(Bb\x1b", "ab"),
        ("an array[31] #x1B and [31m stay", "an array[31] #x1B and [31m stay"),
        ("bell\x07 tab\t", "bell\u2407 tab\t"),
    ],
)
def test_terminal_colours_do_not_show_as_garbage(written: str, read: str) -> None:
    assert without_escapes(written) == read


@pytest.mark.parametrize("piece", ["\x1b]", "#x1B]", "\x1b[", "#x1B[", "\x1b[0;", "\x1b ", "#x1B[#", "\x1b]x"])
def test_colours_are_taken_out_in_linear_time(piece: str) -> None:
    started = time.process_time()
    without_escapes(piece * 200_000)
    assert time.process_time() - started < 2


def test_colours_in_a_failure_are_taken_out(page: Client, send: Send) -> None:
    upload = send(report(failing(message="#x1B[31mboom#x1B[0m", text="#x1B[1mtrace#x1B[0m")))
    shown = text_of(page, at("run", upload.run_id))
    assert "boom" in shown
    assert "trace" in shown
    assert "x1B" not in shown


# -- projects and setup -----------------------------------------------------------------------------------------


def test_home_shows_projects_with_their_last_upload(page: Client, send: Send) -> None:
    assert "none yet" in text_of(page, "/")
    send(report(passing("a"), passing("b")))
    shown = text_of(page, "/")
    assert "processed" in shown
    assert "none yet" not in shown


def test_home_without_a_project_offers_to_make_one(page: Client) -> None:
    Project.objects.all().delete()
    assert "Create your first project" in text_of(page, "/")


def test_a_project_is_made_and_leads_to_its_set_up(page: Client) -> None:
    new = {"name": "Payments", "slug": "payments", "default_branch": "trunk"}
    assert page.post("/projects/new", new).url == "/projects/payments/setup"
    assert Project.objects.get(slug="payments").default_branch == "trunk"
    assert "Another project has this slug." in page.post("/projects/new", new).content.decode()


def test_a_token_is_shown_once_and_not_stored(page: Client, project: Project) -> None:
    response = page.post(at("setup"), {"name": "CI", "scope": "upload"})
    text = re.search(r"flk_upload_\w{36}", response.content.decode())
    assert text is not None
    assert response.headers["Cache-Control"] == "no-store"
    assert text[0] not in text_of(page, at("setup"))
    assert text[0] not in str(response.headers) + str(page.cookies)
    token = Token.objects.get()
    assert not any(text[0] in str(value) for value in vars(token).values())
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_session WHERE session_data LIKE %s", [f"%{text[0]}%"])
        assert cursor.fetchone() == (0,)
    assert page.get("/api/v1/projects/shop/uploads", headers={"Authorization": f"Bearer {text[0]}"}).status_code == 200


def test_a_revoked_token_is_marked_and_refused(page: Client, project: Project, upload_token: str) -> None:
    page.post(at("token_revoke", Token.objects.get().pk))
    assert "revoked" in text_of(page, at("setup"))
    headers = {"Authorization": f"Bearer {upload_token}"}
    assert page.get("/api/v1/projects/shop/uploads", headers=headers).status_code == 401


def test_set_up_waits_for_the_first_results_and_then_stops_asking(page: Client, send: Send) -> None:
    waiting = text_of(page, at("first_upload"))
    assert "Waiting for the first upload" in waiting
    assert "hx-get" in waiting
    send(b"not xml")
    rejected = text_of(page, at("first_upload"))
    assert "rejected" in rejected
    assert "hx-get" in rejected
    send(report(passing()))
    arrived = text_of(page, at("first_upload"))
    assert "Results are arriving" in arrived
    assert "hx-get" not in arrived


def test_steps_name_only_fields_that_the_api_knows(page: Client) -> None:
    shown = text_of(page, at("setup"))
    fields = set(re.findall(r'--form-string "(\w+)=', shown))
    assert fields
    assert fields <= set(RunMetadata.__dataclass_fields__)
    assert all(name in shown for name in ("GitHub Actions", "GitLab", "Jenkins", "CircleCI", "Buildkite"))


# -- runs --------------------------------------------------------------------------------------------------------


def test_an_empty_project_says_how_to_start(page: Client) -> None:
    for name in ("project", "runs"):
        assert "No results yet" in text_of(page, at(name)), name


def test_pages_of_runs_hold_every_run_once_both_ways(project: Project) -> None:
    now = timezone.now()
    Run.objects.bulk_create(Run(project=project, key=bytes([i]), started_at=now) for i in range(23))
    runs = runs_of(project.pk)
    expected = [run.pk for run in runs]

    def walk(query: str, side: str) -> list[list[int]]:
        pages = []
        while True:
            found = keyset_page(runs, QueryDict(query), moment="started_at", size=5)
            pages.append([run.pk for run in found.rows])
            key = found.older if side == "before" else found.newer
            if not key:
                return pages
            query = f"{side}={key}"

    down = walk("", "before")
    assert sum(down, []) == expected
    assert [len(one) for one in down] == [5, 5, 5, 5, 3]
    last = keyset_page(runs, QueryDict(""), moment="started_at", size=22)
    up = walk(f"after={keyset_page(runs, QueryDict('before=' + last.older), moment='started_at').newer}", "after")
    assert sum(reversed(up), []) == expected[:22]


def test_an_odd_query_finds_less_but_never_fails(page: Client, send: Send) -> None:
    """All at once with any of them, and each alone with one of the worst, in `make whole` with both."""
    upload = send(report(failing()))
    odd = ["\0", "9" * 30, "-1", "x.y", "1.9999999999999999999999", f"{10**30}.1", "'; --", "☃"]
    names = ("before", "after", "page", "q", "branch", "state", "verdict", "report", "outcome")
    alone = [{name: value} for name in names for value in odd[:2]]
    together = [dict.fromkeys(names, value) for value in odd]
    lists = [at("project"), at("runs"), at("tests"), at("uploads")]
    addresses = [*lists, at("run", upload.run_id), at("upload", upload.pk)]
    for place, address in enumerate(addresses):
        for query in [*(alone if WHOLE else alone[place % 2 :: 2]), *together]:
            assert page.get(address, query).status_code == 200, (address, query)
    assert page.get(at("run", 10**30)).status_code == 404
    assert page.get(at("test", 10**12)).status_code == 404


# -- tests -------------------------------------------------------------------------------------------------------


def test_a_test_counts_failures_of_executions_and_skips_apart(page: Client, send: Send) -> None:
    skipped = "<testcase classname='c' name='t'><skipped/></testcase>"
    for build, case in enumerate([passing(), failing(), passing(), skipped]):
        send(report(case), build_id=str(build))
    response = page.get(at("test", Test.objects.get().number))
    assert "failed 1 of 3 executions; skipped 1 time besides." in response.content.decode()
    assert len(response.context["lines"]) == 4


@pytest.fixture
def rename(project: Project, send: Send) -> Rename:
    send(report(failing("before", "it was called before")), build_id="1")
    send(report(passing("after")), build_id="2")
    old, new = Test.objects.get(name="before"), Test.objects.get(name="after")
    suggestion, _ = Rename.objects.get_or_create(project=project, old=old, new=new, defaults={"score": 0.9})
    return suggestion


def test_an_accepted_rename_joins_the_histories(page: Client, rename: Rename) -> None:
    address = at("test", rename.new.number)
    assert "Was this test renamed?" in text_of(page, address)
    answer = page.post(at("rename_decide", rename.pk), {"decision": "accept", "test": rename.new.number})
    assert answer.url == address
    shown = text_of(page, address)
    assert "The two are one test now." in shown
    assert "failed 1 of 2 executions" in shown
    assert "Other names" in shown
    for link in re.findall(r'href="(/projects/shop/runs/\d+/tests/\d+\?report=\d+)"', shown):
        assert page.get(link).status_code == 200
    assert "is called" in text_of(page, at("test", rename.old.number))


def test_whoever_is_late_with_a_rename_is_told(page: Client, rename: Rename) -> None:
    answer = page.post(at("rename_decide", rename.pk), {"decision": "dismiss", "test": rename.old.number})
    assert answer.url == at("test", rename.old.number)
    assert "dismissed" in text_of(page, at("test", rename.old.number))
    page.post(at("rename_decide", rename.pk), {"decision": "accept", "test": rename.old.number})
    assert "Somebody else was quicker" in text_of(page, at("test", rename.old.number))
    assert Test.objects.filter(alias_of=None).count() == 2


# -- uploads -----------------------------------------------------------------------------------------------------


def test_uploads_are_filtered_by_state(page: Client, send: Send) -> None:
    good, bad = send(report(passing())), send(b"not xml")
    assert at("upload", good.pk) not in text_of(page, at("uploads"), state="rejected")
    shown = text_of(page, at("uploads"), state="rejected")
    assert at("upload", bad.pk) in shown
    assert escaped(bad.error["sentence"]) in shown
    assert "No upload is failed" in text_of(page, at("uploads"), state="failed")


def test_an_upload_tells_what_is_wrong_and_where(page: Client, send: Send) -> None:
    upload = send(("good.xml", report(passing())), ("bad.xml", b"<testsuite>\n<a></b>"), ("page.txt", b"hello"))
    shown = text_of(page, at("upload", upload.pk))
    assert "but for" in shown
    assert "bad.xml" in shown
    assert re.search(r"Line \d+, column \d+", shown)
    assert shown.index("bad.xml") < shown.index("good.xml"), "what needs somebody comes first"
    assert "no results" in shown[shown.index("page.txt") :], "its content says that it is no report: no problem"


def test_a_waiting_upload_asks_again_until_it_is_done(page: Client, project: Project) -> None:
    upload, _ = upload_receive(project=project, body=body_of(report(passing())), metadata=RunMetadata())
    part = at("upload_part", upload.pk)
    assert f'hx-get="{part}"' in text_of(page, at("upload", upload.pk))
    assert f'hx-get="{part}"' in text_of(page, part)
    upload_process(upload_id=upload.pk)
    done = text_of(page, part)
    assert "hx-get" not in done
    assert "Process again" in done
    assert "<html" not in done


def test_process_again_puts_it_into_the_queue(page: Client, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []
    monkeypatch.setattr(upload_page, "wake_worker", woken.append)
    upload = send(b"not xml")
    address = at("upload_reprocess", upload.pk)
    assert page.get(address).status_code == 405
    assert page.post(address).url == at("upload", upload.pk)
    upload.refresh_from_db()
    assert (upload.state, woken) == (Upload.State.RECEIVED, [upload.pk])
    page.post(address)
    assert woken == [upload.pk]
    assert "being processed already" in text_of(page, at("upload", upload.pk))


def test_a_form_without_its_csrf_token_is_refused(person: User, project: Project, upload_token: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    assert client.post(at("token_revoke", Token.objects.get().pk)).status_code == 403


# -- cost and failure --------------------------------------------------------------------------------------------

COSTS = {"home": 9, "runs": 10, "uploads": 4}
"""Session and user, then the page's own queries: the project, its rows, what they add up to, how they ended, branches
to offer."""


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("rows", [1, 6])
def test_queries_of_a_list_do_not_grow_with_its_rows(page: Client, send: Send, name: str, rows: int) -> None:
    for build in range(rows):
        to = project_create(slug=f"p{build}", name="P") if name == "home" else None
        send(report(passing(), failing(f"f{build}")), build_id=str(build), to=to)
    with CaptureQueriesContext(connection) as queries:
        shown = text_of(page, "/" if name == "home" else at(name))
    assert len(queries) == COSTS[name], [query["sql"][:100] for query in queries]
    assert len(re.findall(r"<tr", shown)) == 1 + rows + (name == "home")


def test_the_error_page_needs_no_database_and_no_user() -> None:
    shown = render_to_string("error.html", {"title": "One moment", "sentence": "<b>"}, RequestFactory().get("/x"))
    assert "<h1" in shown
    assert "One moment" in shown
    assert "&lt;b&gt;" in shown


def test_a_missing_page_is_told_in_words(page: Client) -> None:
    response = page.get("/nothing-here")
    assert response.status_code == 404
    assert "There is no such page" in response.content.decode()


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/password",
        "/projects/new",
        "/projects/shop/",
        "/projects/shop/runs",
        "/projects/shop/tests",
        "/projects/shop/setup",
    ],
)
def test_every_page_has_a_title_one_heading_and_labelled_fields(page: Client, address: str) -> None:
    shown = text_of(page, address)
    assert len(re.findall("<h1", shown)) == 1
    assert re.search(r"<title>[^<]+ · Flakeboard</title>", shown)
    fields = set(re.findall(r'<(?:input(?! type="hidden")|select)[^>]* id="(\w+)"', shown))
    assert fields <= set(re.findall(r'<label[^>]* for="(\w+)"', shown))
