"""Simulated CI systems and people: threads that send reports, and threads that open pages.

Each uploader sends a report, waits for the answer, pauses and sends the next, like consecutive CI jobs."""

import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from bench.suites import document

SIZES = {10: 0.60, 1_000: 0.35, 20_000: 0.05}
"""Cases in a report -> the share of uploads of that size."""
_VARIANTS = 8
READERS = 5
_READER_PAUSE = 1.0
Ask = Callable[..., tuple[int, bytes]]
"""Method, path, body, headers -> status and body; raises OSError without an answer."""


@dataclass(frozen=True, slots=True)
class Plan:
    seconds: float = 120
    uploaders: int = 50
    pause: float = 2
    projects: int = 5
    most: int = 20_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A report to send, and the counts that must be stored."""

    content: bytes
    cases: int
    failed: int


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """A project and its upload token."""

    slug: str
    token: str


@dataclass(frozen=True, slots=True)
class Answer:
    slug: str
    build: str
    sample: Sample
    status: int
    """0 without an answer."""
    seconds: float


@dataclass(frozen=True, slots=True)
class View:
    page: str
    status: int
    seconds: float


@cache
def samples() -> dict[int, list[Sample]]:
    """By number of cases: reports with different failures."""
    return {cases: [_sample(cases, seed) for seed in range(_VARIANTS)] for cases in SIZES}


def _sample(cases: int, seed: int) -> Sample:
    content = document(range(cases), seed=seed, every=min(cases, 1_000))
    return Sample(content, cases, content.count(b"<failure"))


def mixed(known: dict[int, list[Sample]], rng: random.Random) -> Iterator[Sample]:
    """An endless stream of reports with each size in its share."""
    while True:
        cases = rng.choices(list(SIZES), list(SIZES.values()))[0]
        yield rng.choice(known[cases])


def send(ask: Ask, door: ProjectAccess, build: str, sample: Sample) -> Answer:
    headers = {"Authorization": f"Bearer {door.token}", "Content-Type": "application/xml"}
    path = f"/api/v1/projects/{door.slug}/uploads?branch=main&build_id={build}"
    status, _, seconds = _timed(ask, "POST", path, sample.content, headers)
    return Answer(door.slug, build, sample, status, seconds)


def _timed(ask: Ask, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes, float]:
    began = time.perf_counter()
    try:
        status, answer = ask(method, path, body, **headers)
    except OSError:
        status, answer = 0, b""
    return status, answer, time.perf_counter() - began


@dataclass
class Traffic:
    """Sends and reads until the time is up, and records the answers."""

    ask: Ask
    doors: list[ProjectAccess]
    cookie: str
    plan: Plan
    answers: list[Answer] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> float:
        """Run, and return the seconds from the first upload to the last answer."""
        known, began = samples(), time.perf_counter()
        uploaders = [
            threading.Thread(target=self._upload, args=(number, known)) for number in range(self.plan.uploaders)
        ]
        readers = [threading.Thread(target=self._read, args=(number,)) for number in range(READERS)]
        for thread in (*uploaders, *readers):
            thread.start()
        self._over.wait(self.plan.seconds)
        self._over.set()
        for thread in (*uploaders, *readers):
            thread.join()
        return time.perf_counter() - began

    def _upload(self, number: int, known: dict[int, list[Sample]]) -> None:
        rng = random.Random(number)
        for at, sample in enumerate(mixed(known, rng)):
            self.answers.append(send(self.ask, rng.choice(self.doors), f"{number}.{at}", sample))
            if len(self.answers) >= self.plan.most:
                self._over.set()
            if self._over.wait(rng.expovariate(1 / self.plan.pause) if self.plan.pause else 0):
                return

    def _read(self, number: int) -> None:
        rng = random.Random(-1 - number)
        self._over.wait(2 * _READER_PAUSE * rng.random())
        while not self._over.is_set():
            for page, seconds in self.tour(rng.choice(self.doors).slug):
                self.views.append(page)
                if self._over.wait(seconds * rng.random()):
                    return

    def tour(self, slug: str) -> Iterator[tuple[View, float]]:
        """A person's tour: overview, tests and one of them, runs and one of them."""
        for page, place in (("Overview", ""), ("Tests", "tests"), ("Runs", "runs")):
            view, body = self.open(page, f"/projects/{slug}/{place}")
            yield view, 2 * _READER_PAUSE
            links = re.findall(rf"/projects/{slug}/{place}/\d+".encode(), body) if place else []
            if links:
                yield self.open(page[:-1], links[0].decode())[0], 2 * _READER_PAUSE

    def open(self, page: str, path: str) -> tuple[View, bytes]:
        status, body, seconds = _timed(self.ask, "GET", path, None, {"Cookie": self.cookie})
        return View(page, status, seconds), body
