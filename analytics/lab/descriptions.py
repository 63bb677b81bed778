"""An experiment in words: what it found, and the command that repeats it."""

import shlex
from typing import Any

from analytics.wording import counted
from ingest.models import Experiment

ENDINGS = {
    "orders": "all orders were run",
    "budget": "its time was up",
    "interrupted": "it was interrupted",
    "crash": "it broke off",
}


def sentence_of(experiment: Experiment) -> str:
    """What it found, in one sentence."""
    if not experiment.is_finished:
        return "It has not ended yet."
    counts = {"od": 0, "nod": 0, "other": 0, "orders": 0, **experiment.counts}
    kinds = (
        (counts["od"], "order-dependent test", ""),
        (counts["nod"], "test that fails by chance", "tests that fail by chance"),
        (counts["other"], "other finding", ""),
    )
    found = [counted(amount, name, many) for amount, name, many in kinds if amount]
    ran = counted(counts["orders"], "whole order")
    if not found:
        return f"{ran} showed no test that depends on the order."
    return f"{ran} showed {' and '.join(filter(None, (', '.join(found[:-1]), found[-1])))}."


_OPTIONS = {
    *("how", "orders", "budget", "tries", "recheck", "confirm", "confirm_original", "isolate", "minimize", "cleaners"),
    *("protocol", "changed_since", "only", "fresh", "reset", "order_timeout", "iterations", "runs", "random_runs"),
    *("environment_command", "without_failing", "interleave"),
}
"""Parameters that are options of `flakeboard detect`, under the same names."""


def command_of(experiment: Experiment) -> str:
    """The command that repeats it, to paste into a shell."""
    parameters: dict[str, Any] = {"protocol": experiment.protocol, **experiment.parameters}
    if parameters["protocol"] != Experiment.Protocol.RERUNS:
        del parameters["protocol"]  # the usual one, or told by --changed-since
    words = [word for name in sorted(_OPTIONS & parameters.keys()) for word in _option(name, parameters[name])]
    reverses = ["--no-reverse"] if parameters.get("reverses") is False else []
    seed = ["--seed", experiment.seed] if experiment.seed else []
    command = [word for word in _list(parameters.get("command")) if isinstance(word, str)]
    return shlex.join(["flakeboard", "detect", *words, *reverses, *seed, "--", *(command or ["pytest"])])


def _option(name: str, value: Any) -> list[str]:
    flag = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [flag] if value else []
    if name == "only":
        return [word for test in _list(value) for word in (flag, str(test))]
    if isinstance(value, list):
        return [flag, ",".join(map(str, value))]
    return [flag, f"{value:g}" if isinstance(value, float) else str(value)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
