"""`flakeboard order`: the tests in the order in which they are likely to fail first, known dependencies kept."""

from __future__ import annotations

import argparse

from flakeboard.schedules import command
from flakeboard.schedules.command import Api, Collection
from flakeboard.schedules.local_priorities import given_by_coverage
from flakeboard.schedules.request import ORDERS, Request
from flakeboard.schedules.schedule import Schedule, ask


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("order", help="list tests, likely failures first", description=__doc__)
    parser.add_argument("--by", choices=ORDERS, default=ORDERS[0], help="what comes first [%(default)s]")
    parser.add_argument("--coverage", default="", metavar="FILE", help="coverage.py's data file [the server's]")
    command.add_options(parser)
    parser.set_defaults(command=order, parser=parser, words=[])


def order(options: argparse.Namespace) -> int:
    if options.coverage and options.by == ORDERS[0]:
        options.parser.error("--coverage is for orders by coverage: --by statements, for example")
    metadata = command.metadata_of(options)

    def make(api: Api, collection: Collection) -> Schedule:
        request = Request("order", options.by, metadata, enhance=not options.no_enhance, inferred=options.inferred)
        if options.coverage:
            request = given_by_coverage(request, options.coverage, collection.ids)
        return ask(api, request, collection.ids)

    names, schedule = command.made(options, make)
    command.write_list(options.out, [names[place] for place in schedule.order])
    return command.DONE
