"""Recipes: what is held, forced or stirred in a run. Wrappers ask before each call; the session applies the rest."""

from __future__ import annotations

import builtins
import errno
import json
import os
import queue
import random
import sys
import time
from typing import Any, Mapping

from flakeboard.traces.sources import LISTINGS
from flakeboard.tracing.clock import sleep
from flakeboard.tracing.clock_offset import READINGS, ClockOffset
from flakeboard.tracing.recorder import Call, Recorder
from flakeboard.tracing.wait_watch import WaitWatch, bound_of, with_bound

VERSION = 1
STIRS = ("random", "hash", "listing", "zone", "clock", "threads", "delays", "load", "order")
"""Kinds of stirring, in the order in which they are tried."""
POOL = 10
"""Seeds to draw from, so that each is seen twice; after that, every run has another."""
ZONES = ("UTC0", "<+14>-14", "<-0330>3:30", "<-12>12")
"""UTC, Kiritimati, St. John's and the last one to see a day: at any hour one of them has another date than UTC.

Written out, so that no database of zones is needed."""
BOUNDARIES = ("minute", "hour", "day", "month")
_DELAYS = tuple(2**power / 1_000 for power in range(12))
_SWITCH = 1e-6


class WrongRecipe(ValueError):
    """A recipe file that cannot be used."""


def read_recipe(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            recipe = json.load(file)
    except (OSError, ValueError) as error:
        raise WrongRecipe(f"{path} cannot be read: {error}") from None
    if not isinstance(recipe, dict) or recipe.get("flakeboard_recipe") != VERSION:
        raise WrongRecipe(f"{path} is no recipe that this version knows")
    wanted = recipe.get("hash")
    if wanted is not None and os.environ.get("PYTHONHASHSEED") != str(wanted):
        raise WrongRecipe(f"the recipe needs another hash seed: set PYTHONHASHSEED={wanted}")
    return recipe


class Recipe:
    """Applies a recipe to the tests that it is for; to others nothing."""

    def __init__(self, recorder: Recorder, body: Mapping[str, Any]) -> None:
        self.body = dict(body)
        self._recorder = recorder
        self._rules: dict[tuple[str, str, str, int], list[Mapping[str, Any]]] = {}
        for rule in body.get("calls") or ():
            self._rules.setdefault(tuple(rule["site"]), []).append(rule)
        self._roles: dict[str, float] = dict(body.get("roles") or {})
        self._clock = ClockOffset(recorder, body["clock"]) if body.get("clock") else None
        self._waits = WaitWatch(recorder, body["waits"]) if body.get("waits") is not None else None
        self._draw = random.Random(str(body.get("delays")))  # noqa: S311 - a recipe must be repeatable
        self._delayed: dict[str, bool] = {}
        self._load = None

    def is_for(self, test: str) -> bool:
        return self.body.get("test") in (None, test)

    @property
    def told(self) -> dict[str, Any]:
        """What was done, for the trace: rules by their kind only."""
        names = ("stir", "seed", "hash", "listing", "zone", "clock", "threads", "delays", "load", "side", "before")
        kept = {name: self.body[name] for name in names if self.body.get(name) is not None}
        return kept if self._waits is None else {**kept, "waits": self._waits.seen}

    # -- around a test -------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self._recorder.changes = self
        if self.body.get("zone"):
            os.environ["TZ"] = str(self.body["zone"])
            getattr(time, "tzset", lambda: None)()
        if self.body.get("threads"):
            sys.setswitchinterval(_SWITCH)
        if self.body.get("load"):
            self._load = _start_load()
        if self._clock is not None:
            self._clock.begin()
        if self.body.get("seed") is not None:
            seed_all(int(self.body["seed"]))

    def end(self) -> None:
        self._recorder.changes = None
        if self._clock is not None:
            self._clock.end()
        for process in self._load or ():
            process.kill()
            process.wait()
        self._load = None

    # -- around a call -------------------------------------------------------------------------------------------

    def before(self, call: Call) -> None:
        for rule in self._rules.get(self._recorder.sites.table[call.site].key, ()):
            if rule.get("k") in (None, call.k) and rule.get("role") in (None, call.role):
                _apply(rule, call)
        if self._waits is not None:
            self._waits.before(call)
        name = call.source.name
        if self._clock is not None and name in READINGS:
            call.result = self._clock.shifted(name)
        if self.body.get("listing") is not None and name in LISTINGS:
            call.result = _permuted(int(self.body["listing"]))
        if self.body.get("threads") and name == "threading.Thread.start" and self._draw.random() < 0.5:
            call.result = _yielding
        if self.body.get("delays") is not None:
            self._delay(call)

    def _delay(self, call: Call) -> None:
        """At a fifth of the calls of a few roles: what the others do meanwhile decides."""
        draw, role = self._draw, call.role
        if role not in self._delayed:
            self._delayed[role] = draw.random() < (0.3 if role == "main" else 0.3 if len(self._delayed) < 3 else 0.1)
        if self._delayed[role] and draw.random() < 0.2:
            call.delay = draw.choice(_DELAYS)

    def has_role(self, role: str) -> bool:
        return role in self._roles

    def begin_role(self, role: str) -> None:
        """Delay a thread or pool task before it begins."""
        if role in self._roles:
            sleep(float(self._roles[role]))


def _apply(rule: Mapping[str, Any], call: Call) -> None:
    do = rule["do"]
    if do == "answer":
        call.has_answer, call.answer = True, rule.get("value")
    elif do == "raise":
        call.error = exception_of(rule)
    elif do == "delay":
        call.delay = float(rule["seconds"])
    elif do == "status":
        call.result = _with_status(int(rule["value"]))
    elif do == "bound":
        _change_bound(call, float(rule["factor"]))


def exception_of(rule: Mapping[str, Any]) -> BaseException | None:
    """The exception that a rule names by type and errno; None if it cannot be made."""
    if rule.get("errno"):
        number = getattr(errno, str(rule["errno"]), None)
        if number is not None:
            return OSError(number, os.strerror(number))
    name = str(rule.get("type"))
    if name in ("Empty", "Full"):
        return getattr(queue, name)()  # type: ignore[no-any-return]
    kind = getattr(builtins, name, None)
    if (
        name == "TimeoutError"
        and "asyncio" in sys.modules
        and str(rule.get("site", ["", "", ""])[2]).startswith("asyncio")
    ):
        kind = sys.modules["asyncio"].TimeoutError  # type: ignore[attr-defined]
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind()
        except TypeError:
            return None
    return None


def _change_bound(call: Call, factor: float) -> None:
    given = bound_of(call)
    if given is not None:
        with_bound(call, given * factor)


def _with_status(status: int) -> Any:
    def change(response: Any) -> Any:
        for name in ("status", "status_code", "code"):
            if hasattr(response, name):
                setattr(response, name, status)
        return response

    return change


def _permuted(seed: int) -> Any:
    def change(listing: Any) -> Any:
        if not isinstance(listing, list):
            if not hasattr(listing, "__next__"):
                return listing
            listing = list(listing)
            return iter(random.Random(seed).sample(listing, len(listing)))  # noqa: S311 - a recipe must be repeatable
        ordered = sorted(listing, key=str)
        return random.Random(seed).sample(ordered, len(ordered))  # noqa: S311

    return change


def _yielding(result: Any) -> Any:
    """The thread that was just started goes first."""
    sleep(0.002)
    return result


def seed_all(seed: int) -> None:
    random.seed(seed)
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed(seed % 2**32)


def _start_load() -> list[Any]:
    """A busy loop for each core, which ends with us."""
    import subprocess

    loop = "import os\np = os.getppid()\nn = 0\nwhile os.getppid() == p:\n    n += sum(range(10000))"
    return [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(os.cpu_count() or 1)]


def stirred(kind: str, number: int) -> dict[str, Any]:
    """The recipe of the n-th run that is stirred so. Tests before it are chosen by the command, not here."""
    body: dict[str, Any] = {"flakeboard_recipe": VERSION, "stir": kind}
    seed = number % POOL if number < 2 * POOL else number
    if kind == "random":
        body["seed"] = seed
    elif kind == "hash":
        body["hash"] = 1 + seed
    elif kind == "listing":
        body["listing"] = seed
    elif kind == "zone":
        body["zone"] = ZONES[number % len(ZONES)]
    elif kind == "clock":
        body["clock"] = {"before": BOUNDARIES[number % len(BOUNDARIES)]}
    elif kind == "threads":
        body["threads"] = True
        body["delays"] = None
    elif kind == "delays":
        body["delays"] = number + 1
    elif kind == "load":
        body["load"] = True
    return body
