"""`flakeboard detect`: run the tests in other orders, and find those that depend on the order and on which others."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
from types import FrameType
from typing import Any

from flakeboard import console
from flakeboard.alerts import alert
from flakeboard.detection import summary
from flakeboard.detection.answer import answer
from flakeboard.detection.experiment import Experiment, NothingToDo, WrongCommand, runner_call
from flakeboard.detection.findings import UNKNOWN
from flakeboard.detection.journal import Journal, path_of
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.rounds import DEFAULT, HOW
from flakeboard.detection.sending import Sender
from flakeboard.detection.suspects import Suspects
from flakeboard.options import add_connection, add_metadata, metadata_of, settings_of
from flakeboard.orders.configurations import RANDOM_METHOD
from flakeboard.problems import NotConfigured, Problem
from flakeboard.server.api import Api

DONE, COULD_NOT, WRONG, FOUND, INTERRUPTED = 0, 1, 2, 3, 130


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("detect", help="find tests that depend on the order", description=__doc__)
    _add_orders(parser)
    _add_search(parser)
    _add_experiment(parser)
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard detect [options] -- pytest ..."
    parser.set_defaults(command=detect, parser=parser, words=[])


def _add_orders(parser: argparse.ArgumentParser) -> None:
    usual = Parameters()
    group = parser.add_argument_group("which orders")
    group.add_argument(
        "--how", type=_how, default=DEFAULT, metavar="LIST", help=f"configurations in turn [{','.join(DEFAULT)}]"
    )
    group.add_argument("--orders", type=_count, default=usual.orders, metavar="N", help="rounds in all [%(default)s]")
    group.add_argument(
        "--budget", type=_minutes, default=usual.budget, metavar="MIN", help="minutes for everything [%(default).0f]"
    )
    group.add_argument("--seed", default="", metavar="TEXT", help="draws the orders [drawn itself]")
    group.add_argument("--no-reverse", action="store_true", help="never run the reverse of a clean random order")
    group.add_argument("--interleave", action="store_true", help="also orders that tear classes and files apart")
    group.add_argument("--only", action="append", default=[], metavar="NODEID|GLOB", help="look at these tests alone")
    group.add_argument("--changed-since", default="", metavar="REF", help="look at new and changed tests alone")
    group.add_argument(
        "--fresh", choices=("auto", "process", "fork"), default="auto", help="a new process or a fork for each order"
    )
    group.add_argument("--reset", default="", metavar="CMD", help="a command to run before each order")
    group.add_argument(
        "--order-timeout", type=float, default=0.0, metavar="S", help="limit of an order [3 x original + 60 s]"
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    usual = Parameters()
    group = parser.add_argument_group("how closely to look")
    group.add_argument(
        "--tries", type=_count, default=usual.tries, metavar="N", help="runs of the original order until one passes [3]"
    )
    group.add_argument("--without-failing", action="store_true", help="leave out tests that always fail")
    group.add_argument(
        "--recheck", type=float, default=usual.recheck, metavar="PCT", help="later failures that are classified again"
    )
    group.add_argument("--confirm", type=_count, default=usual.confirm, metavar="N", help="reruns of the failing order")
    group.add_argument(
        "--confirm-original", type=int, default=usual.confirm_original, metavar="N", help="of the original order [0]"
    )
    group.add_argument("--isolate", type=_count, default=usual.isolate, metavar="N", help="runs alone [10]")
    group.add_argument("--minimize", choices=("first", "all", "no"), default=usual.minimize, help="partners to find")
    group.add_argument("--cleaners", choices=("first", "all", "no"), default=usual.cleaners, help="cleaners to find")


def _add_experiment(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the experiment")
    group.add_argument("--resume", default="", metavar="KEY", help="go on with an experiment, running nothing twice")
    group.add_argument("--out", default="", metavar="FILE", help="write what was found as JSON")
    group.add_argument("--no-upload", action="store_true", help="send nothing")
    group.add_argument(
        "--fail-on", choices=("new", "any", "never"), default="never", help="exit with 3 if such tests are found"
    )


def _count(written: str) -> int:
    if not written.isdigit() or not 1 <= int(written) <= 1_000_000:
        raise argparse.ArgumentTypeError("must be a number from 1")
    return int(written)


def _minutes(written: str) -> float:
    minutes = float(written)
    if not 0 < minutes <= 100_000:
        raise argparse.ArgumentTypeError("must be a number of minutes")
    return minutes


def _how(written: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in written.split(",") if name.strip())
    unknown = [name for name in names if name not in HOW]
    if unknown or not names:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known are {', '.join(HOW)}")
    return names


def detect(options: argparse.Namespace) -> int:
    """The exit code: 0 done, 3 found what --fail-on names, 1 could not be done, 2 wrong options, 130 interrupted."""
    try:
        journal, parameters = _journal(options)
        runner_call(parameters.command)
    except WrongCommand as problem:
        console.warn(str(problem))
        return WRONG
    return _Detection(options, journal, parameters).run()


def _journal(options: argparse.Namespace) -> tuple[Journal, Parameters]:
    if options.resume:
        journal = Journal.open(path_of(options.resume))
        parameters = Parameters.from_json(journal.head["parameters"])
        if options.words and tuple(options.words) != parameters.command:
            raise WrongCommand("the experiment was begun with another command: " + " ".join(parameters.command))
        return journal, parameters
    if not options.words:
        raise WrongCommand("give the command after --, as in: flakeboard detect -- pytest tests/")
    runner_call(options.words)
    parameters = _parameters(options)
    key = secrets.token_hex(8)
    metadata = metadata_of(options)
    head = {
        "key": key,
        "protocol": parameters.protocol,
        "parameters": parameters.to_json(),
        "seed": parameters.seed,
        "whole": not parameters.only and not parameters.changed_since,
        "revision": metadata.get("commit", ""),
        "metadata": metadata,
    }
    return Journal.create(path_of(key), head), parameters


def _parameters(options: argparse.Namespace) -> Parameters:
    return Parameters(
        command=tuple(options.words),
        how=(*options.how, RANDOM_METHOD) if options.interleave else options.how,
        orders=options.orders,
        budget=options.budget,
        tries=options.tries,
        recheck=options.recheck,
        confirm=options.confirm,
        confirm_original=options.confirm_original,
        isolate=options.isolate,
        minimize=options.minimize,
        cleaners=options.cleaners,
        only=tuple(options.only),
        protocol="changed" if options.changed_since else "orders",
        changed_since=options.changed_since,
        fresh=options.fresh,
        reset=options.reset,
        order_timeout=options.order_timeout,
        seed=options.seed or secrets.token_hex(4),
        reverses=not options.no_reverse,
        without_failing=options.without_failing,
    )


class _Detection:
    """One call of the command: the experiment, what it tells, writes and sends."""

    def __init__(self, options: argparse.Namespace, journal: Journal, parameters: Parameters) -> None:
        self._options = options
        self._journal = journal
        self._parameters = parameters
        self._api = self._connected()

    def _connected(self) -> Api | None:
        if self._options.no_upload:
            return None
        try:
            return Api(settings_of(self._options))
        except NotConfigured as problem:
            console.say(f"nothing is sent: {problem}")
            return None

    def run(self) -> int:
        before = signal.signal(signal.SIGTERM, _interrupt)
        try:
            return self._run()
        finally:
            signal.signal(signal.SIGTERM, before)

    def _run(self) -> int:
        key = self._journal.head["key"]
        console.say(f"experiment {key}, seed {self._parameters.seed}; to go on if it is cut short: --resume {key}")
        if not self._parameters.changed_since:
            self._announce()
        suspects = Suspects(self._api, self._journal)
        experiment = Experiment(self._parameters, self._journal, console.say, suspects)
        interrupted = False
        try:
            experiment.run()
        except KeyboardInterrupt:
            interrupted = True
        except NothingToDo:
            console.say(f"nothing to do: no test is new or changed since {self._parameters.changed_since}")
            os.remove(self._journal.path)
            return DONE
        told = answer(experiment.result, self._journal)
        self._journal.conclude(told)
        for line in summary.lines(experiment.result):
            console.write(line)
        if self._options.out:
            self._write(told)
        new = self._send()
        return INTERRUPTED if interrupted else self._exit_code(told, new)

    def _announce(self) -> None:
        if self._api is not None:
            try:
                Sender(self._api, self._journal).announce()
            except Problem as problem:
                console.warn(f"the experiment is not announced yet: {problem}")

    def _send(self) -> list[Any] | None:
        """What the server did not know; None without its answer."""
        if self._api is None:
            return None
        try:
            reply = Sender(self._api, self._journal).send()
        except Problem as problem:
            alert(f"the experiment was not sent: {problem} Later: flakeboard upload --experiment {self._journal.path}")
            return None
        console.say(str(reply.get("url") or ""))
        new = reply.get("new")
        return new if isinstance(new, list) else None

    def _write(self, told: dict[str, Any]) -> None:
        try:
            with open(self._options.out, "w", encoding="utf-8") as file:
                json.dump(told, file, indent=1)
                file.write("\n")
        except OSError as error:
            raise Problem(f"{self._options.out} cannot be written: {error.strerror or error}") from None

    def _exit_code(self, told: dict[str, Any], new: list[Any] | None) -> int:
        """Without the server's answer every test that was found counts as new."""
        found: list[Any] = [each for each in told["found"] if each["kind"] != UNKNOWN]
        if self._options.fail_on == "new" and new is not None:
            found = new
        return FOUND if found and self._options.fail_on != "never" else DONE


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
