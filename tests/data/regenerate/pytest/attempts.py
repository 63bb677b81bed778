"""Counts the attempts of a test across retries and processes, so that flaky tests fail on schedule."""

import os
import pathlib


def attempt(name):
    counter = pathlib.Path(os.environ["ATTEMPTS"], name)
    with counter.open("a") as file:
        file.write(".")
    return counter.stat().st_size
