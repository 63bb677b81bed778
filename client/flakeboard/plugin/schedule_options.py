"""The options of the pytest plugin that ask for a schedule."""

from __future__ import annotations

import pytest

_NAME = "flakeboard-schedule"


def register(config: pytest.Config) -> None:
    """Register what the options ask for; nothing without them."""
    wanted = [name for name in ("order", "select", "shard") if config.getoption("--flakeboard-" + name)]
    how_offline = config.getoption("--flakeboard-offline") or "all"
    if how_offline not in ("all", "fail"):
        raise pytest.UsageError("--flakeboard-offline takes all or fail")
    if not wanted:
        return
    if len(wanted) > 1:
        raise pytest.UsageError("--flakeboard-order, --flakeboard-select and --flakeboard-shard exclude each other")
    from flakeboard.plugin.schedule import ScheduledSession
    from flakeboard.plugin.schedule_makers import makers
    from flakeboard.problems import Problem

    try:
        make = makers()[wanted[0]](config.getoption("--flakeboard-" + wanted[0]))
    except Problem as problem:
        raise pytest.UsageError(f"--flakeboard-{wanted[0]}: {problem}") from None
    config.pluginmanager.register(ScheduledSession(config, make, how_offline), _NAME)


def shard_metadata(config: pytest.Config) -> dict[str, str]:
    """The shard that this session runs, for its upload."""
    written = config.getoption("--flakeboard-shard")
    return {"shard": written.strip()} if written else {}
