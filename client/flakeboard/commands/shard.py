"""`flakeboard shard`: which tests a shard runs. All shards of a build get parts of one split, whenever they ask."""

from __future__ import annotations

import argparse
import os

from flakeboard.console import plain
from flakeboard.problems import Problem
from flakeboard.schedules import command
from flakeboard.schedules.command import Api, Collection
from flakeboard.schedules.request import MOST_SHARDS, SPLITS, Request, check_build, shard_of
from flakeboard.schedules.schedule import Schedule, ask, notes_of, shards_of


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("shard", help="list the tests of a shard", description=__doc__)
    parser.add_argument("--index", type=int, default=0, metavar="I", help="which shard, from 1 [from CI]")
    parser.add_argument("--total", type=int, default=0, metavar="N", help="how many there are [from CI]")
    parser.add_argument("--by", choices=SPLITS, default=SPLITS[0], help="how to split [%(default)s]")
    parser.add_argument("--all", default="", metavar="DIR", help="write the lists of all shards there, as shard-1.txt")
    command.add_options(parser)
    parser.set_defaults(command=shard, parser=parser, words=[])


def shard(options: argparse.Namespace) -> int:
    metadata = command.metadata_of(options)
    index, total = _shard(options, str(metadata.get("shard") or ""))
    try:
        check_build(metadata)
    except Problem as problem:
        options.parser.error(str(problem))
    enhance, inferred = not options.no_enhance, options.inferred
    request = Request("shard", options.by, metadata, index, total, enhance=enhance, inferred=inferred)
    if options.all:
        return _write_all(options, request)
    names, schedule = command.made(options, lambda api, collection: ask(api, request, collection.ids))
    command.write_list(options.out, [names[place] for place in schedule.order])
    return command.DONE


def _shard(options: argparse.Namespace, from_ci: str) -> tuple[int, int]:
    """The options, or what CI says; with --all the number of shards is enough."""
    if options.all and options.rehearse:
        options.parser.error("--rehearse is for one shard, without --all")
    if options.all and 1 <= options.total <= MOST_SHARDS:
        return 0, options.total
    written = f"{options.index}/{options.total}" if options.index or options.total else from_ci
    try:
        return shard_of(written)
    except Problem as problem:
        options.parser.error(f"--index and --total: {problem}")


def _write_all(options: argparse.Namespace, request: Request) -> int:
    parts: list[list[int]] = []

    def make(api: Api, collection: Collection) -> Schedule:
        answer = api.post("schedules", request.body(collection.ids))
        parts.extend(shards_of(answer, request.total, len(collection.ids)))
        return Schedule([], plain(answer.get("sentence") or ""), notes_of(answer, collection.ids))

    names, schedule = command.made(options, make)
    os.makedirs(options.all, exist_ok=True)
    for number in range(request.total):
        part = parts[number] if parts else schedule.order
        command.write_list(os.path.join(options.all, f"shard-{number + 1}.txt"), [names[place] for place in part])
    return command.DONE
