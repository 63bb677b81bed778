"""The order that a nightly build runs next, as the server proposes it: `GET orders/next`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from flakeboard.console import plain
from flakeboard.node_names import file_of, names_of
from flakeboard.problems import Unreachable
from flakeboard.schedules.schedule import Schedule

if TYPE_CHECKING:
    from flakeboard.server.api import Api


def next_order(api: Api, metadata: Mapping[str, Any], node_ids: Sequence[str], goal: str = "auto") -> Schedule:
    """The proposed order of the collected tests; those that the server does not know run last."""
    environment = metadata.get("environment") or {}
    query = {
        "goal": goal,
        "job": metadata.get("job", ""),
        "environment": ",".join(f"{name}={value}" for name, value in sorted(environment.items())),
    }
    answer = api.get("orders/next", {name: value for name, value in query.items() if value}).json()
    if not isinstance(answer, dict):
        raise Unreachable("The answer is not from Flakeboard.")
    order = _order(answer, node_ids)
    chosen = set(order)
    others = [place for place in range(len(node_ids)) if place not in chosen]
    warnings = [f"the server does not know {len(others):,} of the collected tests: they run last"] if others else []
    why = plain(answer.get("why") or "")
    return Schedule([*order, *others], f"next order ({plain(answer.get('goal'))}): {why}", [], warnings)


def _order(answer: Mapping[str, Any], node_ids: Sequence[str]) -> list[int]:
    """The places of the proposed tests that were collected here, each once."""
    names, order = answer.get("names"), answer.get("order")
    if not isinstance(names, list) or not isinstance(order, list) or len(names) != len(order):
        raise Unreachable("The server's order cannot be read.")
    by_file = {(*names_of(node_id), file_of(node_id)): place for place, node_id in enumerate(node_ids)}
    by_name = {key[:2]: place for key, place in by_file.items()}
    places: dict[int, None] = {}
    for name in names:
        if not isinstance(name, list) or len(name) != 3 or not all(isinstance(part, str) for part in name):
            raise Unreachable("The server's order cannot be read.")
        place = by_file.get((name[0], name[1], name[2]), by_name.get((name[0], name[1])))
        if place is not None:
            places.setdefault(place)
    return list(places)
