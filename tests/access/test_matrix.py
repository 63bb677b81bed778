"""Doors: every address and method, for everybody, as tests/access/matrix.txt says. What is not in it is red."""

import re

from tests.access.walking import METHODS, Address, addresses, ask, header, let_in, line, observed, table
from tests.access.world import World

_ADDRESSES = addresses()
_CSRF = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"')
"""A page with a form has one of these, another each time."""
_NONSENSE = "page=%00&before=-1&after=x&q=%FF%00&sort=%27&owner=%00&days=1e9&state=&test=99999999999999999999&wait=-"
_IDS = ("upload_id", "run_id", "token_id", "rename_id", "quarantine_id", "decision_id", "channel_id")
_IDS += ("invitation_id", "member_id", "report_id", "trusted_id", "dependency_id", "key")

_IDS += ("schedule_id", "trace_id", "note_id", "view_id", "attachment_id")


def test_every_address_and_method_is_as_the_table_says(world: World) -> None:
    known, wrong, missing, seen = table(), [], [], set()
    for address in _ADDRESSES:
        for method in METHODS:
            key, now = (method, address.route), observed(world, address, method)
            if now is None:
                continue
            seen.add(key)
            if key not in known:
                missing.append(line(key, now))
            elif known[key] != now:
                wrong.append(f"{line(key, known[key])}\n{line(key, now)}")
    gone = [f"{method} /{route}" for method, route in known.keys() - seen]
    assert not missing, _told("These rows are missing in tests/access/matrix.txt; judge each, then add it", missing)
    assert not wrong, _told("Two lines each, what the table says and what is", wrong)
    assert not gone, _told("These rows speak of what is no longer there", gone)


def _told(sentence: str, rows: list[str]) -> str:
    return "\n".join([f"{sentence}:", header(), *rows])


def test_the_table_speaks_of_nothing_that_is_not_there() -> None:
    assert {route for _, route in table()} <= {address.route for address in _ADDRESSES}


def _taken(address: Address, *methods: str) -> list[str]:
    """Which of these methods the address takes: the walk above shows that the table has them all."""
    known = table()
    return [method for method in methods if (method, address.route) in known]


def test_no_address_breaks_for_anybody(world: World) -> None:
    """Asked with every method that it takes and with nonsense in the query, by those who get furthest."""
    broken = [
        f"{method} /{address.route} by {who}: {response.status_code}"
        for address in _ADDRESSES
        for method in _taken(address, *METHODS)
        for who in ("anonymous", let_in(address))
        if (response := ask(world, address, method, who, query=_NONSENSE)).status_code >= 500
    ]
    assert broken == []


def test_the_table_knows_no_answer_that_is_an_error_of_ours() -> None:
    assert {cell for row in table().values() for cell in row} <= {"yes", "sign-in", "401", "403", "404"}


def test_a_foreign_project_is_answered_as_one_that_is_missing(world: World) -> None:
    for who in ("stranger", "foreign"):
        for address in (address for address in _ADDRESSES if "slug" in address.parts):
            for method in _taken(address, "GET", "POST"):
                there, nowhere = (ask(world, address, method, who, slug=slug) for slug in ("shop", "nowhere"))
                assert there.status_code == nowhere.status_code, (who, method, address.route)
                assert _CSRF.sub(b"", there.content) == _CSRF.sub(b"", nowhere.content), (who, method, address.route)


def test_what_another_project_has_is_answered_as_what_is_missing(world: World) -> None:
    for who in ("administrator", "upload", "quarantine"):
        assert _walk_foreign(world, who) > 3, who


def _walk_foreign(world: World, who: str) -> int:
    """How many addresses were compared."""
    walked = 0
    for address in (address for address in _ADDRESSES if "slug" in address.parts):
        for part in set(address.parts) & set(_IDS):
            for method in _taken(address, "GET", "POST"):
                pair = [ask(world, address, method, who, **{part: number}) for number in (world.foreign[part], 10**9)]
                if pair[1].status_code in (401, 403, 405, 302):
                    continue  # not let in, or not taken, whatever it is
                walked += 1
                where = (who, method, address.route, part)
                assert [answer.status_code for answer in pair] == [404, 404], where
                assert _CSRF.sub(b"", pair[0].content) == _CSRF.sub(b"", pair[1].content), where
    return walked
