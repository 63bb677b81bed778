"""An experiment in words: what it found, and the command that repeats it."""

import shlex
from typing import Any

from analytics.wording import counted
from ingest.models import Experiment

ENDINGS = {
    "orders": "all orders were run",
    "done": "it came to its end",
    "budget": "its time was up",
    "interrupted": "it was interrupted",
    "crash": "it broke off",
}


def sentence_of(experiment: Experiment) -> str:
    """What it found, in one sentence."""
    if not experiment.is_finished:
        return "It has not ended yet."
    if experiment.is_of_one_test:
        return str(experiment.counts.get("sentence") or "It ended without an answer.")
    counts = {"od": 0, "nod": 0, "other": 0, "orders": 0, **experiment.counts}
    kinds = (
        (counts["od"], "order-dependent test", ""),
        (counts["nod"], "test that fails by chance", "tests that fail by chance"),
        (counts["other"], "other finding", ""),
    )
    found = [counted(amount, name, many) for amount, name, many in kinds if amount]
    if not counts["orders"] and not found:
        return "Nothing was found: no order of the whole suite was run."
    ran = counted(counts["orders"], "whole order") if counts["orders"] else "Runs of parts of the suite"
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
    if experiment.is_of_one_test:
        return _command_of_one_test(experiment)
    parameters: dict[str, Any] = {"protocol": experiment.protocol, **experiment.parameters}
    if parameters["protocol"] != Experiment.Protocol.RERUNS:
        del parameters["protocol"]  # the usual one, or told by --changed-since
    words = [word for name in sorted(_OPTIONS & parameters.keys()) for word in _option(name, parameters[name])]
    reverses = ["--no-reverse"] if parameters.get("reverses") is False else []
    seed = ["--seed", experiment.seed] if experiment.seed else []
    command = [word for word in _list(parameters.get("command")) if isinstance(word, str)]
    return shlex.join(["flakeboard", "detect", *words, *reverses, *seed, "--", *(command or ["pytest"])])


_OPTIONS_OF_ONE_TEST = {
    *("runs", "budget", "level", "stir", "no_try", "in_suite"),
    *("value", "margin", "no_poll", "code", "before", "after"),
}
"""Parameters that are options of `flakeboard why`, `waits` or `verify`, under the same names."""


def _command_of_one_test(experiment: Experiment) -> str:
    parameters = experiment.parameters
    words = [
        word
        for name in sorted(_OPTIONS_OF_ONE_TEST & parameters.keys())
        if parameters[name] not in (None, "")
        for word in _option(name, parameters[name])
    ]
    command = [word for word in _list(parameters.get("command")) if isinstance(word, str)]
    tail = ["--", *command] if command else []
    return shlex.join(["flakeboard", experiment.protocol, str(parameters.get("test", "")), *words, *tail])


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
