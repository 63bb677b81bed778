"""What each option of a schedule asks for: a maker of the schedule, from the collected tests."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from flakeboard.plugin.schedule import Make
from flakeboard.problems import Problem
from flakeboard.schedules import local_orders, request
from flakeboard.schedules.order_names import NEXT, SEED
from flakeboard.schedules.request import Request
from flakeboard.schedules.schedule import Schedule, ask

_SECONDS = 60.0


def makers() -> Mapping[str, Any]:
    return {"order": _order, "select": _select, "shard": _shard}


def _order(written: str) -> Make:
    if written.startswith(SEED):
        return lambda node_ids: local_orders.seeded(node_ids, written[len(SEED) :])
    if written == NEXT:
        return lambda node_ids: _next(node_ids)
    if written in request.ORDERS:
        return lambda node_ids: _asked(Request("order", written, _metadata()), node_ids)
    if not os.path.isfile(written):
        words = ", ".join((NEXT, *request.ORDERS))
        raise Problem(f"{written!r} is neither a file nor one of {words}, seed:TEXT")
    names = local_orders.names_in(written)
    return lambda node_ids: local_orders.listed(node_ids, names, written)


def _shard(written: str) -> Make:
    index, total = request.shard_of(written)
    metadata = _metadata()
    request.check_build(metadata)
    return lambda node_ids: _asked(Request("shard", "groups", metadata, index, total), node_ids)


def _select(written: str) -> Make:
    from flakeboard.schedules import selection

    by, ref = request.change_of(written)
    return lambda node_ids: selection.select(_api(), by, ref, request.ORIGINAL, _metadata(), node_ids)


def _asked(wish: Request, node_ids: Sequence[str]) -> Schedule:
    return ask(_api(), wish, node_ids)


def _next(node_ids: Sequence[str]) -> Schedule:
    from flakeboard.schedules.next_order import next_order

    return next_order(_api(), _metadata(), node_ids)


def _api() -> Any:
    from flakeboard.server.api import Api
    from flakeboard.settings import settings_from

    return Api(settings_from(timeout=_SECONDS))


def _metadata() -> dict[str, Any]:
    from flakeboard import metadata

    return metadata.collect()
