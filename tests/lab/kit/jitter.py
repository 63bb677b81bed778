"""Chance that no tracer sees: machines are not equally fast every day, and that comes from no call in a program."""

import _random


def jitter(low: float, high: float) -> float:
    """A number between both, from a generator of its own that the system seeds."""
    return low + (high - low) * _random.Random().random()


jitter.__code__ = jitter.__code__.replace(co_filename="<elsewhere>")  # no tracer takes it for code of the project
