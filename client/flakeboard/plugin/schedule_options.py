"""The options of the pytest plugin that ask for a schedule, and what each of them does."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import pytest

from flakeboard.plugin.schedule import Make, ScheduledSession
from flakeboard.problems import Problem
from flakeboard.schedules import local_orders, request
from flakeboard.schedules.request import Request
from flakeboard.schedules.schedule import Schedule, ask

NEXT, SEED = "next", "seed:"
_NAME = "flakeboard-schedule"
_SECONDS = 60.0


def add_to(group: Any) -> None:
    words = "|".join((NEXT, *request.ORDERS, "FILE", "seed:TEXT"))
    group.addoption("--flakeboard-order", metavar=words, default="", help="run the tests in this order")
    group.addoption("--flakeboard-shard", metavar="I/N", default="", help="run this shard of the suite, as 2/4")
    group.addoption(
        "--flakeboard-select", metavar="statements:REF", default="", help="run the tests that changes since REF concern"
    )
    group.addoption(
        "--flakeboard-offline",
        metavar="all|fail",
        default="all",
        help="without an answer from the server: run all tests, or exit 1 [all]",
    )


def register(config: pytest.Config) -> None:
    """Register what the options ask for; nothing without them."""
    wanted = [name for name in ("order", "select", "shard") if config.getoption("--flakeboard-" + name)]
    how_offline = config.getoption("--flakeboard-offline")
    if how_offline not in ("all", "fail"):
        raise pytest.UsageError("--flakeboard-offline takes all or fail")
    if not wanted:
        return
    if len(wanted) > 1:
        raise pytest.UsageError("--flakeboard-order, --flakeboard-select and --flakeboard-shard exclude each other")
    try:
        make = _makers()[wanted[0]](config.getoption("--flakeboard-" + wanted[0]))
    except Problem as problem:
        raise pytest.UsageError(f"--flakeboard-{wanted[0]}: {problem}") from None
    config.pluginmanager.register(ScheduledSession(config, make, how_offline), _NAME)


def shard_metadata(config: pytest.Config) -> dict[str, str]:
    """The shard that this session runs, for its upload."""
    written = config.getoption("--flakeboard-shard")
    return {"shard": written.strip()} if written else {}


def _makers() -> Mapping[str, Any]:
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
