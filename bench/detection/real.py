"""The five real subjects: what is found by default, in which order first, and all partners exactly."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.detection.subjects import SUBJECTS, Truth, detected, unpacked
from bench.outcome import Outcome

SEEDS = int(os.environ.get("SEEDS", "5"))


def run() -> Iterable[Outcome]:
    for seed in range(1, SEEDS + 1):
        yield from run_seed(seed)


def run_seed(seed: int) -> Iterable[Outcome]:
    tests = sum(map(len, SUBJECTS.values()))
    found = first = exact = others = named = 0
    seconds = 0.0
    for name, truths in SUBJECTS.items():
        with tempfile.TemporaryDirectory() as folder:
            project = unpacked(name, Path(folder))
            result, took = detected(project, "--seed", str(seed))
            whole, _ = detected(project, "--seed", str(seed), "--minimize", "all", "--cleaners", "all")
        seconds += took
        found += sum(_is_found(result, test, truth) for test, truth in truths.items())
        first += sum(test in result["orders"][0]["failed"] for test in truths)
        exact += sum(_is_exact(whole, test, truth) for test, truth in truths.items())
        others += sum(each["test"] not in truths for each in (*result["found"], *whole["found"]))
        named += any(each.get("state") for each in result["found"])
    yield Outcome(f"seed {seed}: order-dependent tests with their roles, of {tests}", found, least=tests)
    yield Outcome(f"seed {seed}: of them in the first reordered run", first, least=tests - 1)
    yield Outcome(f"seed {seed}: with exactly their partners and cleaners", exact, least=tests)
    yield Outcome(f"seed {seed}: other tests reported", others, most=0)
    yield Outcome(f"seed {seed}: subjects whose shared state is named, of 5", named, least=4)
    yield Outcome(f"seed {seed}: all five by default", seconds, "s")


def _entry(result: dict[str, Any], test: str) -> dict[str, Any]:
    return next((each for each in result["found"] if each["test"] == test), {})


def _is_found(result: dict[str, Any], test: str, truth: Truth) -> bool:
    each = _entry(result, test)
    groups = [len(group["tests"]) for group in each.get("groups", ())]
    return each.get("kind") == "OD" and each["role"] == truth.role and groups == [truth.group]


def _is_exact(result: dict[str, Any], test: str, truth: Truth) -> bool:
    groups = _entry(result, test).get("groups", [])
    if truth.group > 1:
        return bool(groups) and all(len(group["tests"]) == truth.group for group in groups)
    partners = {group["tests"][0] for group in groups if len(group["tests"]) == 1}
    cleaners = {cleaner for group in groups for cleaner in group["cleaners"]}
    return len(partners) == len(groups) and (partners, cleaners) == (truth.partners, truth.cleaners)
