"""The part of the server's API that this client uses."""

from __future__ import annotations

import time
from typing import Any, Iterator, Mapping
from urllib.parse import urlencode

from flakeboard import console
from flakeboard.problems import Unreachable
from flakeboard.server.packages import Package
from flakeboard.server.retries import attempt
from flakeboard.server.transport import Answer, send
from flakeboard.settings import Settings

_LONGEST_WAIT = 60
"""Seconds that the server may hold a request at most."""
_MOST_PAGES = 20


class Api:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def upload(self, package: Package) -> dict[str, Any]:
        """Send results and return the upload as the server stored it."""
        return _object(self._send_package("uploads", package, {}))

    def attach(self, upload: int, package: Package) -> dict[str, Any]:
        """Send files beside an upload; the answer names those that were not kept."""
        return _object(self._send_package(f"uploads/{upload}/attachments", package, {}))

    def gate(self, package: Package, exit_code: int, runner: str) -> dict[str, Any]:
        """Send results with the exit code and poll for the decision until the timeout."""
        began = time.monotonic()
        query: dict[str, Any] = {"exit_code": exit_code, "wait": self._wait(self.settings.timeout)}
        if runner:
            query["runner"] = runner
        decision = _object(self._send_package("gate", package, query))
        while not decision.get("decided") and "id" in decision:
            left = self.settings.timeout - (time.monotonic() - began)
            if left < 1:
                break
            time.sleep(min(1.0, left))
            decision = _object(self.get("gate/{}".format(int(decision["id"])), {"wait": self._wait(left)}, left))
        return decision

    def get(self, path: str, query: Mapping[str, Any] | None = None, seconds: float | None = None) -> Answer:
        return self._ask("GET", path, query or {}, None, {}, seconds)

    def upload_of(self, number: int, seconds: float) -> dict[str, Any]:
        """The upload once it is processed, or as it is when the time is up."""
        return _object(self.get(f"uploads/{number}", {"wait": self._wait(seconds)}, max(seconds, 1.0)))

    def rows(self, path: str, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Every row of a list, from all its pages."""
        for page in range(1, _MOST_PAGES + 1):
            answer = _object(self.get(path, {**query, "page": page, "page_size": 500}))
            yield from answer.get("results") or []
            if not answer.get("next"):
                return

    def post(
        self, path: str, body: bytes, kind: str = "application/json", query: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        return _object(self._ask("POST", path, query or {}, body, {"Content-Type": kind}, None))

    def _send_package(self, path: str, package: Package, query: Mapping[str, Any]) -> Answer:
        url = self._url(path, query)
        self.settings.token.renew()
        return attempt(
            lambda left: send(self.settings, "POST", url, left, package.rewound(), package.headers()),
            self.settings.timeout,
            console.say,
        )

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: bytes | None,
        headers: Mapping[str, str],
        seconds: float | None,
    ) -> Answer:
        url = self._url(path, query)
        limit = self.settings.timeout if seconds is None else seconds
        return attempt(lambda left: send(self.settings, method, url, left, body, headers), limit, console.say)

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        return self.settings.api + path + ("?" + urlencode(query) if query else "")

    def _wait(self, seconds: float) -> int:
        """Less than the time left, so that the answer arrives in time."""
        return max(min(int(seconds * 0.8), _LONGEST_WAIT), 1)


def _object(answer: Answer) -> dict[str, Any]:
    value = answer.json()
    if not isinstance(value, dict):
        raise Unreachable(f"The answer (HTTP {answer.status}) is not from Flakeboard.")
    return value
