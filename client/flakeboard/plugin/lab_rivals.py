"""Options and plugins that would stop, repeat, spread or reorder the tests of an order: they are switched off."""

from __future__ import annotations

from typing import Any

_VALUES: dict[str, Any] = {
    "numprocesses": 0,
    "dist": "no",
    "tx": [],
    "looponfail": False,
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "cacheclear": False,
    "stepwise": False,
    "stepwise_skip": False,
    "stepwise_reset": False,
    "maxfail": 0,
    "reruns": 0,
    "usepdb": False,
    "trace": False,
    "collectonly": False,
    "xmlpath": None,
    "randomly_reorganize": False,
    "flakeboard_report": "",
    "flakeboard_quarantine": False,
    "flakeboard_reruns": "",
    "flakeboard_upload": False,
    "flakeboard_trace": "",
    "flakeboard_recipe": "",
}
"""By name in pytest's namespace: what the option is set to, if there is one of that name."""
_PLUGINS = ("random_order", "rerunfailures")
"""Plugins that act on marks and settings too, so that their options are not enough."""
_OWN_CHOICE = ("default", "last")


def switch_off(config: Any, randomly_seed: int) -> None:
    """Before pytest and plugins act on their options. pytest-randomly goes on reseeding, by one seed for all orders."""
    for name, value in _VALUES.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)
    if getattr(config.option, "randomly_seed", None) in _OWN_CHOICE:
        config.option.randomly_seed = randomly_seed
    for name in _PLUGINS:
        if config.pluginmanager.has_plugin(name):
            config.pluginmanager.unregister(name=name)
    config.addinivalue_line("markers", "flaky(reruns=1, reruns_delay=0): of pytest-rerunfailures, which is off here")
