"""What the server knows of one test, as far as it can be asked; nothing where it cannot."""

from __future__ import annotations

import argparse
from typing import Any, Mapping

from flakeboard.node_names import key_of, names_of
from flakeboard.options import settings_of
from flakeboard.problems import NotConfigured, Problem
from flakeboard.server.api import Api


class KnownTest:
    """A test by its node id. Every question has an empty answer where there is no server, or it does not know."""

    def __init__(self, options: argparse.Namespace, node_id: str) -> None:
        self._node_id = node_id
        self._api: Api | None = None
        try:
            self._api = None if options.offline else Api(settings_of(options))
        except NotConfigured:
            self._api = None
        self.row: Mapping[str, Any] = self._find()

    def _find(self) -> Mapping[str, Any]:
        if self._api is None:
            return {}
        wanted = key_of(*names_of(self._node_id))
        name = names_of(self._node_id)[1]
        try:
            for row in self._api.rows("tests", {"text": name[:200]}):
                if key_of(str(row.get("classname") or ""), str(row.get("name") or "")) == wanted:
                    return row
        except Problem:
            return {}
        return {}

    def ask(self, part: str) -> Mapping[str, Any]:
        """What `GET tests/<number>/<part>` answers."""
        number = self.row.get("number")
        if self._api is None or not isinstance(number, int):
            return {}
        try:
            answer = self._api.get(f"tests/{number}/{part}").json()
        except Problem:
            return {}
        return answer if isinstance(answer, Mapping) else {}

    @property
    def to_expose(self) -> int | None:
        """How many reruns make it fail at least once, with the server's confidence."""
        reruns = self.row.get("reruns")
        runs = reruns.get("to_expose") if isinstance(reruns, Mapping) else None
        return runs if isinstance(runs, int) and not isinstance(runs, bool) and runs > 0 else None
