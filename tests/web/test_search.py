"""Search over tests, runs and commits; and the way back to what one looked at."""

import re

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.people.members import member_add
from dashboard.people.models import Role
from dashboard.web.recent import KEPT
from ingest.models import Project, Rename, Test
from ingest.renames import rename_decide
from ingest.services import project_create
from tests.conftest import Send
from tests.people.signed_in import browser_of
from tests.web.history import sent
from tests.web.test_pages import HOSTILE, at, escaped, failing, passing, report, text_of


def found_of(page: Client, text: str, address: str = "") -> str:
    """What is found, without the header and what was looked at lately."""
    shown = text_of(page, address or at("project_search"), q=text)
    return shown[shown.index("<main") :].split('id="viewed"')[0]


def test_tests_are_found_by_name_class_and_file(page: Client, send: Send) -> None:
    case = "<testcase classname='shop.Cart' name='adds_item' file='tests/cart_test.py'/>"
    send(report(case, passing("removes_item"), passing("unrelated")))
    number = Test.objects.get(name="adds_item").number
    for text in ("adds_item", "DS_IT", "shop.cart", "cart_test.py"):
        assert f'href="{at("test", number)}"' in found_of(page, text), text
    both = found_of(page, "item")
    assert both.index("adds_item") < both.index("removes_item")
    assert "unrelated" not in both


def test_the_name_itself_comes_before_names_that_hold_it(page: Client, send: Send) -> None:
    send(report(passing("a_login"), passing("login_again"), passing("login")))
    names = re.findall(r"<bdi>(\w*login\w*)</bdi></a>", found_of(page, "login"))
    assert names == ["login", "login_again", "a_login"]


def test_runs_are_found_by_build_branch_and_commit(page: Client, send: Send) -> None:
    run = sent(send, 0, {}, "t", build_id="build-77", branch="feature/tax", commit="deadbeef" + "0" * 32)
    other = sent(send, 1, {}, "t", build_id="build-78", branch="other", commit="cafe" + "0" * 36)
    for text in ("build-77", "ture/ta", "deadbeef", "DEADB"):
        shown = found_of(page, text)
        assert at("run", run.pk) in shown, text
        assert at("run", other.pk) not in shown, text
    assert "Runs of the commit" in found_of(page, "dead")
    assert "Nothing found" in found_of(page, "beefbeef")


def test_a_renamed_test_is_found_by_both_names(page: Client, project: Project, send: Send) -> None:
    sent(send, 0, {}, "before")
    sent(send, 1, {}, "after")
    old, new = Test.objects.get(name="before"), Test.objects.get(name="after")
    rename, _ = Rename.objects.get_or_create(project=project, old=old, new=new, defaults={"score": 0.9})
    rename_decide(rename=rename, accept=True, user_id=None)
    shown = found_of(page, "before")
    assert f'href="{at("test", new.number)}"' in shown
    assert "formerly" in shown
    assert at("test", old.number) not in shown


def test_a_project_finds_its_own_and_the_global_search_all(page: Client, send: Send) -> None:
    other = project_create(slug="other", name="Other")
    send(report(passing("shared_name")))
    send(report(passing("shared_name")), to=other)
    assert "/projects/other/" not in found_of(page, "shared_name")
    everywhere = found_of(page, "shared_name", "/search")
    assert "/projects/other/tests/" in everywhere
    assert "/projects/shop/tests/" in everywhere


def test_more_than_fits_is_said_and_led_to(page: Client, send: Send) -> None:
    send(report(*(passing(f"case_{i:03}") for i in range(30))))
    shown = found_of(page, "case_")
    assert "More than 20 tests" in shown
    assert shown.count("case_") < 60


def test_hostile_and_odd_queries_are_shown_as_text(page: Client, send: Send) -> None:
    send(report(failing(HOSTILE)))
    assert escaped(HOSTILE) in found_of(page, HOSTILE)
    for text in ("%", "_", "\\", "'; --", "\0", "x" * 5_000, "☃", "<script>"):
        for address in (at("project_search"), "/search"):
            assert "<script>alert" not in text_of(page, address, q=text)


def test_the_box_is_on_every_page_and_asks_the_right_search(page: Client, client: Client, send: Send) -> None:
    assert 'action="/search"' in text_of(page, "/")
    assert f'action="{at("project_search")}"' in text_of(page, at("runs"))
    assert "data-search" not in client.get("/sign-in").content.decode()
    assert client.get("/search").status_code == 302


def test_what_was_looked_at_lately_is_offered_newest_first(page: Client, send: Send) -> None:
    first, second = sent(send, 0, {"t": "no"}), sent(send, 1, {"t": "no"})
    for run in (first, second, first):
        text_of(page, at("run", run.pk))
    shown = text_of(page, at("project_search"))
    viewed = re.findall(r'href="/projects/shop/runs/(\d+)"', shown.split('id="viewed"')[1])
    assert viewed == [str(first.pk), str(second.pk)]
    assert f'href="{at("run", second.pk)}"' in text_of(page, "/").split("</header>")[0]


def test_what_is_kept_of_it_is_bounded_and_of_one_person(page: Client, send: Send) -> None:
    runs = [sent(send, hour, {"t": "no"}, branch="b" * 250) for hour in range(KEPT + 4)]
    for run in runs:
        text_of(page, at("run", run.pk))
    kept = page.session["recently_viewed"]
    assert len(kept) == KEPT
    assert kept[0][2] == runs[-1].pk
    assert len(str(kept)) < KEPT * 300


def test_queries_do_not_grow_with_what_is_found(page: Client, send: Send) -> None:
    counts = []
    for tests in (1, 15):
        send(report(*(passing(f"case_{tests}_{i}") for i in range(tests))), build_id=f"case_{tests}")
        with CaptureQueriesContext(connection) as queries:
            found_of(page, "case_")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 7, "one of them reads the names, because tests were added, one the states"


# -- the command palette -----------------------------------------------------------------------------------------


def palette(page: Client, **query: str) -> dict[str, list[str]]:
    groups = page.get("/palette", query).json()["groups"]
    return {group["label"]: [entry["address"] for entry in group["entries"]] for group in groups}


def test_the_palette_reaches_pages_projects_tests_and_actions(page: Client, send: Send) -> None:
    other = project_create(slug="other", name="Other")
    send(report(passing("adds_item")))
    send(report(passing("adds_item")), to=other)
    assert palette(page, q="polic", project="shop")["Pages"] == [at("policy"), "/projects/other/policy"]
    assert palette(page, q="other polic", project="shop")["Pages"] == ["/projects/other/policy"]
    assert palette(page, q="invite", project="other")["Actions"][0] == "/projects/other/members"
    assert palette(page, q="oth")["Projects"] == ["/projects/other/"]
    number = Test.objects.get(name="adds_item", project__slug="shop").number
    assert palette(page, q="c.adds_item", project="shop")["Tests"] == [at("test", number)]
    assert len(palette(page, q="adds_item")["Tests"]) == 2


def test_the_palette_says_where_it_shows_a_part(page: Client, send: Send) -> None:
    send(report(*(passing(f"adds_item_{place}") for place in range(9))))
    for text, more in (("adds_item", True), ("adds_item_3", False)):
        tests = page.get("/palette", {"q": text, "project": "shop"}).json()["groups"][-1]
        assert (tests["label"], tests["more"]) == ("Tests", more) and len(tests["entries"]) == (8 if more else 1)
    pages = page.get("/palette", {"project": "shop"}).json()["groups"][0]
    assert pages["more"] and len(pages["entries"]) == 8


def test_the_palette_offers_only_what_a_person_may_open(page: Client, project: Project, send: Send) -> None:
    send(report(passing("adds_item")))
    viewer = User.objects.create_user("vi")
    assert palette(browser_of(viewer), q="adds", project="shop") == {}
    assert "Projects" not in palette(browser_of(viewer), project="shop")
    member_add(project=project, user=viewer, role=Role.VIEWER)
    seen = palette(browser_of(viewer), q="t", project="shop")
    assert at("trust") not in seen["Pages"] and "Actions" not in seen
    assert palette(browser_of(viewer), q="adds", project="shop")["Tests"]
