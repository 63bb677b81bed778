"""Quarantines and policies as programs use them."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.quarantine.models import Policy, Quarantine
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owner_patterns_set
from ingest.models import Token
from ingest.services import project_create, token_create
from tests.api_client import Program, code
from tests.dashboard.analysed import Analysed
from tests.dashboard.openapi import Schema


def make_one(bot: Program, shop: Analysed, name: str = "flaky", **told: Any) -> dict[str, Any]:
    response = bot.post("quarantines", **{"test": shop.number(name), "reason": "it flakes", **told})
    assert response.status_code == 201, response.content
    return response.json()


def test_a_quarantine_is_proposed_approved_and_released(bot: Program, shop: Analysed, schema: Schema) -> None:
    made = make_one(
        bot, shop, owner="@cart", ticket_url="https://tracker/1", branches=["main"], environments={"os": ["linux"]}
    )
    schema.check("quarantines_create", 201, made)
    assert (made["state"], made["version"], made["mode"]) == ("proposed", 1, "mute")
    assert [test["name"] for test in made["tests"]] == ["flaky"]
    assert made["progress"]["needed"] > 10
    assert made["actions"] == ["approve", "reject", "change"]
    approved = bot.post(f"quarantines/{made['id']}/approve", version=1, reason="yes").json()
    schema.check("quarantines_act", 200, approved)
    assert (approved["state"], approved["version"]) == ("active", 2)
    bot.post(f"quarantines/{made['id']}/release", version=2)
    detail = shop.reader.read(f"quarantines/{made['id']}")
    schema.check("quarantines_retrieve", 200, detail)
    assert [(event["action"], event["actor"], event["actor_kind"]) for event in detail["events"]] == [
        ("propose", "bot", "token"), ("approve", "bot", "token"), ("release", "bot", "token"),
    ]  # fmt: skip


def test_an_older_version_is_refused_with_what_it_is_now(bot: Program, shop: Analysed, schema: Schema) -> None:
    made = make_one(bot, shop)
    bot.post(f"quarantines/{made['id']}/approve", version=1)
    late = bot.post(f"quarantines/{made['id']}/reject", version=1)
    schema.check("quarantines_act", 409, late.json())
    assert code(late) == (409, "conflict")
    error = late.json()["error"]
    assert (error["state"], error["version"]) == ("active", 2)
    assert "bot (token) was quicker: approve" in error["sentence"]
    assert code(bot.post(f"quarantines/{made['id']}/approve", version=2)) == (409, "not_allowed")


def test_a_test_has_one_live_quarantine(bot: Program, shop: Analysed, schema: Schema) -> None:
    first = make_one(bot, shop, state="active")
    again = bot.post("quarantines", test=shop.number("flaky"), reason="me too")
    schema.check("quarantines_create", 409, again.json())
    assert code(again) == (409, "already_quarantined")
    assert again.json()["error"]["quarantine"] == first["id"]


def test_a_cluster_is_quarantined_with_its_members(bot: Program, shop: Analysed) -> None:
    number = shop.number("pair_a")
    made = bot.post("quarantines", cluster=number, reason="one cause", state="active").json()
    assert (made["cluster"], [test["name"] for test in made["tests"]]) == (number, ["pair_a", "pair_b"])


def test_the_owner_is_looked_up_where_none_is_said(bot: Program, shop: Analysed) -> None:
    owner_patterns_set(project=shop.project, patterns=[Pattern("classname", "shop.check*", "@checkout")])
    assert make_one(bot, shop)["owner"] == "@checkout"


def test_days_expiry_extension_and_change(bot: Program, shop: Analysed) -> None:
    made = make_one(bot, shop, days=3, state="active")
    assert 2.9 < (Quarantine.objects.get().expires_at - timezone.now()) / timedelta(days=1) <= 3
    longer = bot.post(f"quarantines/{made['id']}/extend", version=1, days=60).json()
    assert longer["expires_at"] > made["expires_at"]
    changed = bot.post(f"quarantines/{made['id']}/change", version=2, owner="@new", mode="skip").json()
    assert (changed["owner"], changed["mode"], changed["version"]) == ("@new", "skip", 3)
    assert changed["events"][-1]["after"] == {"owner": "@new", "mode": "skip"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"test": 10**12}, {"test": None}, {"test": "x"}, {"cluster": 1}, {"reason": ""}, {"reason": "a\0b"}, {"days": 0},
        {"days": 400}, {"days": 3, "expires_at": "2030-01-01T00:00:00Z"}, {"expires_at": "2001-01-01T00:00:00Z"},
        {"ticket_url": "javascript:alert(1)"}, {"branches": "main"}, {"environments": {"os": 1}}, {"mode": "ignore"},
        {"state": "fixed"}, {"colour": "red"}, {"environments": {"": "x"}}, {"owner": "x" * 300},
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(bot: Program, shop: Analysed, wrong: dict[str, Any]) -> None:
    response = bot.post("quarantines", **{"test": shop.number("flaky"), "reason": "x", **wrong})
    assert response.status_code == 422, response.content
    assert not Quarantine.objects.exists()


def test_a_list_is_filtered_and_paged(bot: Program, shop: Analysed, schema: Schema) -> None:
    one = make_one(bot, shop, owner="@cart")
    two = make_one(bot, shop, "victim", state="active", reason="order")
    answer = shop.reader.read("quarantines")
    schema.check("quarantines_list", 200, answer)
    ids = lambda query: [row["id"] for row in shop.reader.read(f"quarantines?{query}")["results"]]  # noqa: E731
    assert ids("") == [two["id"], one["id"]]
    assert ids("state=active") == ids("text=VICTIM") == ids("text=order") == [two["id"]]
    assert ids("owner=%40cart") == ids("page_size=1&page=2") == [one["id"]]
    assert code(shop.reader.get("quarantines?state=odd")) == (422, "invalid")


def test_only_its_scope_writes_and_only_in_its_project(bot: Program, shop: Analysed) -> None:
    made = make_one(bot, shop)
    for program in (shop.reader, shop.writer):
        assert code(program.post("quarantines", test=1, reason="x")) == (403, "forbidden")
        assert code(program.post(f"quarantines/{made['id']}/approve", version=1)) == (403, "forbidden")
    other = project_create(slug="other", name="Other")
    stranger = Program(token_create(project=other, name="x", scope=Token.Scope.QUARANTINE)[1], "other")
    for path in (f"quarantines/{made['id']}", "quarantines/999999", f"quarantines/{made['id']}/dance"):
        assert code(stranger.get(path) if "dance" not in path else stranger.post(path, version=1)) == (404, "not_found")
    assert code(stranger.post(f"quarantines/{made['id']}/approve", version=1)) == (404, "not_found")
    assert Quarantine.objects.get().state == "proposed"


@pytest.mark.parametrize("body", ["", "[]", "{", '{"version": "x"}', '{"version": 1, "colour": 2}'])
def test_odd_bodies_are_refused(bot: Program, shop: Analysed, body: str) -> None:
    made = make_one(bot, shop)
    assert bot.post_raw(f"quarantines/{made['id']}/approve", body).status_code in (400, 422)


def test_lists_hold_what_holds_for_a_branch_or_pull_request(bot: Program, shop: Analysed) -> None:
    made = make_one(bot, shop, state="active", branches=["release/*"])["id"]
    pulls = make_one(bot, shop, "victim", state="active", branches=["pull/*"])["id"]
    ids = lambda query: [result["id"] for result in shop.reader.get(f"quarantines?{query}").json()["results"]]  # noqa: E731
    assert ids("branch=release/2") == [made]
    assert ids("branch=release/evil&pull_request=7") == [pulls]
    assert ids("branch=other") == []
    assert ids("") == [pulls, made]


# -- exports -----------------------------------------------------------------------------------------------------


def test_exports_hold_what_is_active_here(bot: Program, shop: Analysed) -> None:
    make_one(bot, shop, state="active", branches=["main"])
    make_one(bot, shop, "victim", state="active", environments={"os": "linux"})
    make_one(bot, shop, "broken")
    names = lambda query: [t["name"] for t in shop.reader.get(f"quarantines/export/json{query}").json()["tests"]]  # noqa: E731
    assert names("") == ["flaky", "victim"]
    assert names("?branch=other") == ["victim"]
    assert names("?environment=os=mac") == ["flaky"]
    assert names("?branch=main") == ["flaky", "victim"]
    assert names("?branch=main&pull_request=7") == ["victim"]
    text = shop.reader.get("quarantines/export/text")
    assert (text.content, text["Content-Type"]) == (
        b"shop.checkout flaky\nshop.checkout victim\n",
        "text/plain; charset=utf-8",
    )
    assert shop.reader.get("quarantines/export/pytest").content == (
        b"--deselect=checkout.py::flaky\n--deselect=checkout.py::victim\n"
    )
    assert shop.reader.get("quarantines/export/abacus").status_code == 404
    assert code(shop.reader.get("quarantines/export/json?colour=1")) == (422, "unknown_field")


@pytest.mark.parametrize("kind", ["json", "text", "pytest", "jest", "vitest", "playwright", "junit5", "go", "rspec"])
def test_every_format_is_served_also_when_nothing_is_quarantined(shop: Analysed, kind: str) -> None:
    assert shop.reader.get(f"quarantines/export/{kind}").status_code == 200


# -- policy ------------------------------------------------------------------------------------------------------


def test_a_policy_is_read_set_and_versioned(bot: Program, shop: Analysed, schema: Schema) -> None:
    first = shop.reader.read("policy")
    schema.check("policy_retrieve", 200, first)
    assert (first["version"], first["settings"]["mode"]) == (0, "propose")
    told = bot.put(
        "policy", {"version": 0, "settings": {"mode": "quarantine", "most_share": 0.5, "exit_codes": {"go": [1, 3]}}}
    )
    schema.check("policy_update", 200, told.json())
    assert (told.json()["version"], told.json()["created_by"]) == (1, "bot")
    assert shop.reader.read("policy")["settings"]["exit_codes"] == {"go": [1, 3]}
    assert code(bot.put("policy", {"version": 0, "settings": {}})) == (409, "conflict")
    assert Policy.objects.count() == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "x"},
        {"days": 0},
        {"colour": 1},
        {"most_share": 7},
        {"exit_codes": {"go": [0]}},
        [],
        None,
        {"release": "yes"},
    ],
)
def test_a_policy_that_cannot_be_is_refused(bot: Program, shop: Analysed, wrong: Any) -> None:
    assert bot.put("policy", {"version": 0, "settings": wrong}).status_code == 422
    assert not Policy.objects.exists()


def test_only_its_scope_sets_a_policy(shop: Analysed) -> None:
    for token in (shop.read_token, shop.upload_token):
        assert code(Program(token).put("policy", {"version": 0, "settings": {}})) == (403, "forbidden")


def test_a_dry_run_tells_today_and_the_past_and_changes_nothing(bot: Program, shop: Analysed, schema: Schema) -> None:
    answer = bot.post("policy/dry-run", settings={"mode": "quarantine", "most_share": 1})
    assert answer.status_code == 200, answer.content
    schema.check("policy_dry_run", 200, answer.json())
    steps = answer.json()["today"]["steps"]
    numbers = {number for step in steps for number in step["tests"]}
    assert numbers == {shop.number(name) for name in ("flaky", "pair_a", "pair_b", "victim")}
    assert shop.number("broken") not in numbers
    assert not Quarantine.objects.exists()
    assert bot.post("policy/dry-run", days=0).json()["past"] == []
    assert code(bot.post("policy/dry-run", settings={"days": 0})) == (422, "invalid")
    assert code(shop.reader.post("policy/dry-run", days=0)) == (403, "forbidden")


def test_nobody_without_a_token_sees_anything(shop: Analysed) -> None:
    for path in ("quarantines", "quarantines/1", "quarantines/export/json", "policy", "gate/1"):
        assert Client().get(f"/api/v1/projects/shop/{path}").status_code == 401
