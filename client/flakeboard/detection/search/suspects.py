"""Partners of a test that the server already names: asked first, since a right one ends the search at once."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from flakeboard.detection.journal import Journal
from flakeboard.plugin.junit_report import names_of
from flakeboard.problems import Problem
from flakeboard.server.api import Api

_GROUNDS = {"shown": 0, "stated": 1, "inferred": 2}


class Suspects:
    def __init__(self, api: Api | None, journal: Journal) -> None:
        self._api = api
        self._journal = journal

    def of(self, test: int, names: Sequence[str]) -> list[int]:
        """Places of single partners, the best first; only names that were collected here."""
        known = {names_of(name): place for place, name in enumerate(names)}

        def compute() -> Mapping[str, Any]:
            found = [known[key] for key in self._named(names[test]) if key in known]
            return {"suspects": list(dict.fromkeys(found))}

        return list(self._journal.step({"kind": "suspects", "for": test}, compute)["suspects"])

    def _named(self, node_id: str) -> list[tuple[str, str]]:
        """Classes and names; none without a server or without its answer."""
        if self._api is None:
            return []
        try:
            rows = list(self._api.rows("dependencies", {"test": node_id}))
        except Problem:
            return []
        rows.sort(key=lambda row: (_GROUNDS.get(str(row.get("ground")), 3), row.get("p_value") or 0.0))
        single = [row["before"][0] for row in rows if len(row.get("before") or ()) == 1]
        return [(str(test.get("classname") or ""), str(test.get("name") or "")) for test in single]
