"""Owner rules as programs set them."""

import pytest
from django.test import Client

from dashboard.quarantine.models import OwnerPattern, TestOwner
from ingest.models import Token
from ingest.services import project_create, token_create
from tests.api_client import Program, code
from tests.dashboard.analysed import Analysed
from tests.dashboard.openapi import Schema

FILE = "*             @all\n/cart.py      @cart @infra\n"


def test_rules_are_set_as_a_whole_and_decide(bot: Program, shop: Analysed, schema: Schema) -> None:
    empty = shop.reader.read("owners")
    schema.check("owners_retrieve", 200, empty)
    assert (empty["owners"], empty["nobodys"]) == ([], empty["tests"])
    pattern = {"field": "classname", "pattern": "shop.check*", "owner": "@checkout"}
    told = bot.put("owners", {"code_owners": FILE, "patterns": [pattern]})
    schema.check("owners_update", 200, told.json())
    counts = {one["owner"]: one["tests"] for one in told.json()["owners"]}
    assert counts["@cart"] == counts["@infra"] == 12
    assert counts["@checkout"] == told.json()["tests"] - 12
    assert (counts["@all"], told.json()["nobodys"]) == (0, 0)
    of = lambda owner: shop.reader.read(f"tests?page_size=500&owner={owner}")["total"]  # noqa: E731
    assert (of("%40cart"), of("%40CHECKOUT"), of("%40nobody")) == (12, counts["@checkout"], 0)
    bot.put("owners", {})
    assert not OwnerPattern.objects.exists() and of("%40cart") == 0


def test_one_tests_owner_is_named_and_taken_back(bot: Program, shop: Analysed, schema: Schema) -> None:
    bot.put("owners", {"code_owners": FILE})
    path = f"tests/{shop.number('flaky')}/owner"
    assert shop.reader.read(path) == {"test": shop.number("flaky"), "owner": "@all", "by": "file"}
    told = bot.put(path, {"owner": "anna"})
    schema.check("test_owner_update", 200, told.json())
    assert (told.json()["owner"], told.json()["by"]) == ("anna", "hand")
    assert shop.reader.read("tests?owner=anna")["total"] == 1
    assert bot.put(path, {"owner": ""}).json()["owner"] == "@all"
    assert not TestOwner.objects.exists()


def test_a_file_that_cannot_be_read_is_refused_line_by_line(bot: Program, shop: Analysed) -> None:
    bot.put("owners", {"code_owners": FILE})
    refused = bot.put("owners", {"code_owners": "* @all\na/[b @x\n*a*a*a*a @x\n"})
    assert code(refused) == (422, "invalid")
    assert [line["line"] for line in refused.json()["error"]["lines"]] == [2, 3]
    assert shop.reader.read("owners")["code_owners"] == FILE, "what was there stays"


@pytest.mark.parametrize(
    "wrong",
    [{"syntax": "svn"}, {"patterns": "x"}, {"patterns": [{"field": "file", "pattern": "x", "owner": "y"}]},
     {"patterns": [{"field": "suite", "pattern": "", "owner": "y"}]}, {"colour": 1}, {"code_owners": "a\0b"}],
)  # fmt: skip
def test_what_cannot_be_is_refused(bot: Program, shop: Analysed, wrong: dict[str, object]) -> None:
    assert bot.put("owners", wrong).status_code == 422


def test_only_its_scope_writes_and_only_its_own_project(shop: Analysed) -> None:
    path = f"tests/{shop.number('flaky')}/owner"
    for token in (shop.read_token, shop.upload_token):
        assert code(Program(token).put("owners", {})) == (403, "forbidden")
        assert code(Program(token).put(path, {"owner": "x"})) == (403, "forbidden")
    other = project_create(slug="other", name="Other")
    stranger = Program(token_create(project=other, name="x", scope=Token.Scope.QUARANTINE)[1], "other")
    assert code(stranger.put("tests/1/owner", {"owner": "x"})) == (404, "not_found")
    assert code(stranger.put(f"tests/{2**31}/owner", {"owner": "x"})) == (404, "not_found")
    assert Client().get("/api/v1/projects/shop/owners").status_code == 401
