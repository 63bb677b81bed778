"""Sketches on their way to the server: only what it lacks, a few thousand at a time."""

from __future__ import annotations

import base64
import json
import os
from typing import Any, Mapping, Sequence

from flakeboard.problems import Problem
from flakeboard.server.api import Api
from flakeboard.sketches.blame import author_days
from flakeboard.sketches.sketch import FORM, key_id, key_of
from flakeboard.sketches.sources import Sketched

SECRET = "FLAKEBOARD_SKETCH_KEY"  # noqa: S105 - the name of the variable
_LEAST_SECRET = 16
_MOST_TESTS = 5_000
_MOST_DIGESTS = 100_000


def key_from(slug: str, environ: Mapping[str, str] | None = None) -> bytes:
    """The key of the project's sketches; the secret itself is never sent."""
    secret = (os.environ if environ is None else environ).get(SECRET, "").strip()
    if secret and len(secret) < _LEAST_SECRET:
        raise Problem(f"{SECRET} must have {_LEAST_SECRET} characters or more.")
    return key_of(slug, secret)


def as_sent(test: Sketched, written: str = "") -> dict[str, Any]:
    sent: dict[str, Any] = {"classname": test.classname, "name": test.name, "file": test.file}
    if test.language:
        sent["language"] = test.language
    if test.sketch is not None:
        sent["words"], sent["digest"] = test.sketch.words, test.sketch.digest
        sent["sketch"] = base64.b64encode(test.sketch.numbers).decode("ascii")
    if written:
        sent["written"] = written
    return sent


def send_sketches(
    api: Api,
    key: bytes,
    tests: Sequence[Sketched],
    revision: Mapping[str, str],
    days: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Send those that the server lacks; all of them where their days are told. What it stored of how many, and why."""
    made = [test for test in tests if test.sketch is not None]
    lacking = made if days else _lacking(api, key, made)
    stored, why = 0, ""
    for start in range(0, len(lacking), _MOST_TESTS):
        part = lacking[start : start + _MOST_TESTS]
        rows = [as_sent(test, (days or {}).get(_place(test), "")) for test in part]
        body = {"form": FORM, "key_id": key_id(key), **revision, "tests": rows}
        answer = api.post("sketches", json.dumps(body).encode("utf-8"))
        stored, why = stored + int(answer.get("stored") or 0), str(answer.get("why") or "") or why
    return {"stored": stored, "lacking": len(lacking), "sketches": len(made), "why": why}


def _lacking(api: Api, key: bytes, made: Sequence[Sketched]) -> list[Sketched]:
    found: list[Sketched] = []
    for start in range(0, len(made), _MOST_DIGESTS):
        part = made[start : start + _MOST_DIGESTS]
        digests = [test.sketch.digest for test in part if test.sketch is not None]
        body = json.dumps({"form": FORM, "key_id": key_id(key), "digests": digests}).encode("utf-8")
        places = api.post("sketches/known", body).get("lacking") or []
        found += [part[place] for place in places if isinstance(place, int) and 0 <= place < len(part)]
    return found


def _place(test: Sketched) -> str:
    return f"{test.path}:{test.line}"


def days_written(folder: str, tests: Sequence[Sketched]) -> dict[str, str]:
    """By place: the day of the line that names each test, by git blame; nothing where git does not know it."""
    by_path: dict[str, list[Sketched]] = {}
    for test in tests:
        if test.sketch is not None:
            by_path.setdefault(test.path, []).append(test)
    days: dict[str, str] = {}
    for path, found in sorted(by_path.items()):
        by_line = author_days(folder, path)
        days.update({_place(test): by_line[test.line] for test in found if test.line in by_line})
    return days
