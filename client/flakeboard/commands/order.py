"""`flakeboard order`: the tests in the order in which they are likely to fail first, known dependencies kept."""

from __future__ import annotations

import argparse

from flakeboard.schedules import command
from flakeboard.schedules.command import PytestCommand
from flakeboard.schedules.request import ORDERS, Request
from flakeboard.schedules.schedule import ask


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("order", help="list tests, likely failures first", description=__doc__)
    parser.add_argument("--by", choices=ORDERS, default=ORDERS[0], help="what comes first [%(default)s]")
    command.add_options(parser)
    parser.set_defaults(command=order, parser=parser, words=[])


def order(options: argparse.Namespace) -> int:
    metadata = command.metadata_of(options)
    with PytestCommand(options.words, options.parser) as pytest:
        collection = pytest.collect()
    ids, names = collection.ids, command.typed(collection)
    request = Request("order", options.by, metadata, enhance=not options.no_enhance, inferred=options.inferred)
    schedule = command.scheduled(options, len(ids), lambda api: ask(api, request, ids))
    command.show(options, schedule)
    command.write_list(options.out, [names[place] for place in schedule.order])
    return command.DONE
