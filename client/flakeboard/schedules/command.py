"""What `order`, `select` and `shard` share: options, the collection of the tests, and the list that they write."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from typing import Any, Callable, Iterator, Sequence

from flakeboard import console, metadata, runners
from flakeboard.detection.execution.injection import Injection
from flakeboard.detection.execution.processes import ProcessExecutor
from flakeboard.detection.execution.records import Collection
from flakeboard.options import add_connection, settings_of
from flakeboard.problems import Problem
from flakeboard.runners.pytest import PYTEST
from flakeboard.schedules.rehearsal import Rehearsal
from flakeboard.schedules.schedule import Schedule, offline
from flakeboard.server.api import Api

_COLLECTING = 3_600.0
DONE, COULD_NOT, WRONG = 0, 1, 2


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the schedule")
    group.add_argument("--no-enhance", action="store_true", help="leave known dependencies aside")
    group.add_argument("--inferred", action="store_true", help="keep inferred dependencies, too")
    group.add_argument("--explain", action="store_true", help="say what was moved, added, avoided and left out")
    group.add_argument(
        "--rehearse", action="store_true", help="run the schedule first, and put right what fails by its order"
    )
    group.add_argument("--out", default="", metavar="FILE", help="write the list there, not to the output")
    group.add_argument(
        "--offline", choices=("all", "fail"), default="all", help="without an answer: all tests, or exit 1 [all]"
    )
    run = parser.add_argument_group("the run (else from CI)")
    run.add_argument("--build-id", default="", metavar="TEXT", help="the build that all shards belong to")
    run.add_argument("--job", default="", metavar="TEXT")
    run.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="part of the environment")
    add_connection(parser)
    parser.usage = f"{parser.prog} [options] -- pytest ..."


def metadata_of(options: argparse.Namespace) -> dict[str, Any]:
    return metadata.collect({"build_id": options.build_id, "job": options.job}, options.env)


class PytestCommand:
    """The user's own pytest command: collects its tests, and runs some of them in an order of ours."""

    def __init__(self, words: Sequence[str], parser: argparse.ArgumentParser) -> None:
        if not words:
            parser.error(f"give the command after --, as in: {parser.prog} -- pytest tests/")
        call = runners.find(words)
        if call is None or call.runner is not PYTEST:
            parser.error("this needs the command that starts pytest itself, as in: -- pytest tests/")
        self._folder = tempfile.mkdtemp(prefix="fb-")
        self.executor = ProcessExecutor(Injection(call, self._folder, os.environ, 0))

    def __enter__(self) -> PytestCommand:
        return self

    def __exit__(self, *error: object) -> None:
        self.executor.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def collect(self) -> Collection:
        collection = self.executor.collect(_COLLECTING)
        for node_id in collection.duplicates:
            console.warn(f"two tests are called {node_id}: the first counts.")
        return collection


def scheduled(options: argparse.Namespace, count: int, make: Callable[[Api], Schedule]) -> Schedule:
    """The server's schedule, or what runs without one."""
    try:
        return make(Api(settings_of(options)))
    except Problem as problem:
        return offline(problem, options.offline, count)


def made(options: argparse.Namespace, make: Callable[[Api, Collection], Schedule]) -> tuple[list[str], Schedule]:
    """Collect, ask, rehearse if that is wanted, and say what came of it: the names for a list, and the schedule."""
    with PytestCommand(options.words, options.parser) as command:
        collection = command.collect()
        ids = collection.ids
        schedule = scheduled(options, len(ids), lambda api: make(api, collection))
        if options.rehearse:
            schedule = Rehearsal(command.executor, ids, _note).rehearse(schedule)
    show(options, schedule)
    return typed(collection), schedule


def _note(line: str) -> None:
    """Beside the list: on stderr."""
    console.write(console.PREFIX + console.plain(line, 2_000), sys.stderr)


def show(options: argparse.Namespace, schedule: Schedule) -> None:
    """The sentence and the warnings, beside the list: on stderr."""
    for line in schedule.warnings:
        console.warn(line)
    lines = [schedule.sentence, *(schedule.notes if options.explain else ())]
    for line in filter(None, lines):
        _note(line)


def typed(collection: Collection) -> list[str]:
    """Node ids as pytest takes them where the command was given: from that folder, not from the root."""
    if os.path.realpath(collection.rootdir) == os.path.realpath(collection.folder):
        return collection.ids
    return list(_from_folder(collection))


def _from_folder(collection: Collection) -> Iterator[str]:
    for node_id in collection.ids:
        file, separator, rest = node_id.partition("::")
        path = os.path.relpath(os.path.join(collection.rootdir, file), collection.folder)
        yield path.replace(os.sep, "/") + separator + rest


def write_list(path: str, names: Sequence[str]) -> None:
    """One a line, to a file or to the output; a whole file or none."""
    text = "".join(name + "\n" for name in names)
    if not path:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(path + ".part", "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(path + ".part", path)
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from None
