"""`flakeboard select`: the tests that a change concerns, by coverage, with those that they need before them."""

from __future__ import annotations

import argparse

from flakeboard.problems import Problem
from flakeboard.schedules import command
from flakeboard.schedules.command import Api, Collection
from flakeboard.schedules.request import CHANGES, ORDERS, ORIGINAL, change_of
from flakeboard.schedules.schedule import Schedule
from flakeboard.schedules.selection import select as select_tests


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("select", help="list the tests that a change concerns", description=__doc__)
    parser.add_argument("--changed", choices=CHANGES, default=CHANGES[0], help="lines or functions [%(default)s]")
    parser.add_argument("--since", required=True, metavar="REF", help="the commit that the change is against")
    parser.add_argument("--by", choices=(ORIGINAL, *ORDERS), default=ORIGINAL, help="their order [%(default)s]")
    parser.add_argument("--rest", default="", metavar="FILE", help="write the other tests there")
    command.add_options(parser)
    parser.set_defaults(command=select, parser=parser, words=[])


def select(options: argparse.Namespace) -> int:
    try:
        changed, ref = change_of(f"{options.changed}:{options.since}")
    except Problem as problem:
        options.parser.error(f"--since: {problem}")
    metadata = command.metadata_of(options)

    def make(api: Api, collection: Collection) -> Schedule:
        enhance, ids = not options.no_enhance, collection.ids
        rootdir, inferred = collection.rootdir, options.inferred
        lists = (options.out, options.rest)
        return select_tests(api, changed, ref, options.by, metadata, ids, rootdir, enhance, inferred, lists)

    names, schedule = command.made(options, make)
    command.write_list(options.out, [names[place] for place in schedule.order])
    if options.rest:
        command.write_list(options.rest, [names[place] for place in schedule.rest(len(names))])
    return command.DONE
