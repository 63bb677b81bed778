"""`flakeboard quarantine`: list, add or release quarantines from a terminal or a script."""

from __future__ import annotations

import argparse
import json
from typing import Any

from flakeboard import console
from flakeboard.console import plain
from flakeboard.metadata import pairs_of
from flakeboard.options import add_connection, settings_of
from flakeboard.problems import Problem
from flakeboard.server.api import Api

_FORMATS = ("table", "json", "text", "pytest", "jest", "vitest", "playwright", "junit5", "go", "rspec")


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("quarantine", help="list, add or release quarantines", description=__doc__)
    actions = parser.add_subparsers(metavar="list|add|release", dest="action")
    actions.required = True
    _add_list(actions.add_parser("list", help="list quarantines as a table or in a runner's format"))
    _add_add(actions.add_parser("add", help="add or propose a quarantine"))
    _add_release(actions.add_parser("release", help="let a test block again"))


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=_FORMATS, default="table", help="a table or a runner's format [table]")
    parser.add_argument("--state", default="active", help="proposed, active, expired, ... [active]")
    parser.add_argument("--owner", default="", help="only this owner's")
    add_connection(parser)
    parser.set_defaults(command=show)


def _add_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("test", help="the test's number, or class::name")
    parser.add_argument("--reason", required=True)
    parser.add_argument("--owner", default="")
    parser.add_argument("--ticket", default="", metavar="URL")
    parser.add_argument("--days", type=int, default=0, help="days until it expires")
    parser.add_argument("--mode", choices=("mute", "skip"), default="mute")
    parser.add_argument("--branch", action="append", default=[], help="only on this branch; may be repeated")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="only in this environment")
    parser.add_argument("--propose", action="store_true", help="propose it for somebody to approve")
    add_connection(parser)
    parser.set_defaults(command=add)


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("test", help="the test's number, or class::name")
    parser.add_argument("--reason", required=True)
    add_connection(parser)
    parser.set_defaults(command=release)


def show(options: argparse.Namespace) -> int:
    api = Api(settings_of(options))
    if options.format != "table":
        console.write(api.get("quarantines/export/" + options.format).body.decode("utf-8", "replace").rstrip("\n"))
        return 0
    query = {"state": options.state, "owner": options.owner}
    rows = list(api.rows("quarantines", {name: value for name, value in query.items() if value}))
    for row in rows:
        console.write(_line(row))
    if not rows:
        console.say(f"no {plain(options.state)} quarantines.")
    return 0


def _line(row: dict[str, Any]) -> str:
    tests = ", ".join(_label(test) for test in tests_of(row)) or "-"
    expiry = str(row.get("expires_at") or "")[:10]
    parts = (row.get("id"), row.get("state"), expiry, row.get("owner") or "-", tests, row.get("reason") or "")
    return "  ".join(plain(part, 200) for part in parts)


def tests_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The tests that a quarantine covers: a single test, or those of a cluster."""
    several = row.get("tests")
    tests = several if isinstance(several, list) else [row.get("test")]
    return [test for test in tests if isinstance(test, dict)]


def _label(test: dict[str, Any]) -> str:
    return "::".join(str(part) for part in (test.get("classname"), test.get("name")) if part)


def add(options: argparse.Namespace) -> int:
    api = Api(settings_of(options))
    body: dict[str, Any] = {
        "test": _number(api, options.test),
        "reason": options.reason,
        "owner": options.owner,
        "ticket_url": options.ticket,
        "branches": options.branch,
        "environments": pairs_of(options.env),
        "mode": options.mode,
        "state": "proposed" if options.propose else "active",
    }
    if options.days:
        body["days"] = options.days
    answer = api.post("quarantines", _json({name: value for name, value in body.items() if value or name == "test"}))
    console.say("quarantine {} is {}.".format(answer.get("id"), answer.get("state")))
    return 0


def release(options: argparse.Namespace) -> int:
    api = Api(settings_of(options))
    number = _number(api, options.test)
    for row in api.rows("quarantines", {"state": "active"}):
        if any(test.get("number") == number for test in tests_of(row)):
            body = _json({"reason": options.reason, "version": row.get("version")})
            answer = api.post("quarantines/{}/release".format(int(row["id"])), body)
            console.say("quarantine {} is {}.".format(answer.get("id"), answer.get("state")))
            return 0
    raise Problem(f"No active quarantine covers {options.test}.")


def _number(api: Api, written: str) -> int:
    """A test's number, looked up by class::name if that is given. An ambiguous name is an error."""
    if written.isdigit():
        return int(written)
    classname, _, name = written.rpartition("::")
    matches = [
        row
        for row in api.rows("tests", {"text": name})
        if row.get("name") == name and (not classname or row.get("classname") == classname)
    ]
    if not matches:
        raise Problem(f"No test is named {written}. A new test can be found a minute or two after its first upload.")
    if len(matches) > 1:
        candidates = "; ".join("{}: {}".format(row.get("number"), _label(row)) for row in matches[:5])
        raise Problem(f"{len(matches)} tests are named {written}: give the number instead. {candidates}")
    return int(matches[0]["number"])


def _json(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode("ascii")
