"""The list of quarantines as it was last fetched, kept in the folder that FLAKEBOARD_CACHE names.

It is read when the server does not answer, and only to say which failing tests were quarantined then. It never masks a
failure nor lets a build pass: a quarantine may have been released since, and whatever runs in the job can write it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, Iterable, Mapping

from flakeboard.console import plain
from flakeboard.node_names import key_of
from flakeboard.plugin import advice
from flakeboard.problems import Problem
from flakeboard.reports.junit import FAILED, Case
from flakeboard.server.api import Api
from flakeboard.settings import CACHE_FOLDER, Settings

_SECONDS = 5.0
_OLDEST = 7 * 86_400
_NAMES = 10


def fetch(settings: Settings, run: Mapping[str, Any], environ: Mapping[str, str]) -> None:
    """Fetch the list and keep it, where a folder for it is named. No answer in five seconds leaves the one before."""
    if not environ.get(CACHE_FOLDER):
        return
    try:
        quarantined = advice.quarantined(Api(replace(settings, timeout=min(settings.timeout, _SECONDS))), run)
    except Problem:
        return
    keep(settings, run, quarantined, environ)


def keep(
    settings: Settings, run: Mapping[str, Any], quarantined: Mapping[str, str], environ: Mapping[str, str]
) -> None:
    path = _path(settings, run, environ)
    if not path:
        return
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"at": time.time(), "tests": sorted(quarantined)}, file)
        os.replace(path + ".new", path)
    except OSError:
        return


def lines(settings: Settings, run: Mapping[str, Any], cases: Iterable[Case], environ: Mapping[str, str]) -> list[str]:
    """What the kept list says of the failing tests; nothing without one."""
    kept = _read(_path(settings, run, environ))
    failing = list(dict.fromkeys(case.key for case in cases if case.outcome == FAILED))
    if kept is None or not failing:
        return []
    at, tests = kept
    listed = [" :: ".join(filter(None, key)) for key in failing if key_of(*key) in tests]
    when = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    head = (
        f"of {len(failing):,} failing tests {len(listed):,} were quarantined on {when}, when the list was last fetched"
    )
    names = "; ".join(plain(name, 200) for name in listed[:_NAMES])
    return [f"{head}{': ' + names if names else ''}. It excuses nothing: run the job again once Flakeboard answers."]


def _path(settings: Settings, run: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """A file for each server, project, and branch or pull request."""
    folder = environ.get(CACHE_FOLDER, "")
    where = [settings.url, settings.project, run.get("pull_request") or "", run.get("branch") or ""]
    name = hashlib.sha256(json.dumps([*where, run.get("environment") or {}], sort_keys=True).encode()).hexdigest()[:32]
    return os.path.join(folder, f"quarantines-{name}.json") if folder else ""


def _read(path: str) -> tuple[float, frozenset[str]] | None:
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        at, tests = float(kept["at"]), frozenset(test for test in kept["tests"] if isinstance(test, str))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (at, tests) if 0 <= time.time() - at <= _OLDEST else None
