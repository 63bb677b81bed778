"""`flakeboard detect`: run the tests in other orders, and find those that depend on the order and on which others."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import signal
from dataclasses import replace
from types import FrameType
from typing import Any

from flakeboard import console
from flakeboard.alerts import alert
from flakeboard.detection.experiment import NothingToDo, OrderExperiment, Result, WrongCommand, runner_call
from flakeboard.detection.findings import UNKNOWN
from flakeboard.detection.journal import Journal, path_of
from flakeboard.detection.options import add_options, parameters_of
from flakeboard.detection.parameters import RERUNS, Parameters
from flakeboard.detection.report import summary
from flakeboard.detection.report.answer import answer
from flakeboard.detection.report.delivery import Sender
from flakeboard.detection.reruns.experiment import RerunExperiment
from flakeboard.detection.search.suspects import Suspects
from flakeboard.detection.seeded.experiment import SeededExperiment
from flakeboard.options import add_connection, add_metadata, metadata_of, settings_of
from flakeboard.problems import NotConfigured, Problem
from flakeboard.runners.pytest import PYTEST
from flakeboard.server.api import Api

DONE, WRONG, FOUND, INTERRUPTED = 0, 2, 3, 130


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("detect", help="find tests that depend on the order", description=__doc__)
    add_options(parser)
    add_connection(parser)
    add_metadata(parser)
    parser.usage = "flakeboard detect [options] -- pytest ..."
    parser.set_defaults(command=detect, parser=parser, words=[])


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
        if options.budget:
            journal.change_budget(options.budget)
        if journal.budget:
            parameters = replace(parameters, budget=journal.budget, has_budget=True)
        return journal, parameters
    if not options.words:
        raise WrongCommand("give the command after --, as in: flakeboard detect -- pytest tests/")
    call = runner_call(options.words)
    parameters = parameters_of(options)
    if call.runner is not PYTEST:
        _refuse_what_is_for_pytest(parameters)
    key, iteration = options.experiment or secrets.token_hex(8), options.iteration[0] if options.iteration else 0
    metadata = metadata_of(options)
    head = {
        "key": key,
        "protocol": parameters.protocol,
        "parameters": parameters.to_json(),
        "seed": parameters.seed,
        "whole": not parameters.only and not parameters.changed_since,
        "revision": metadata.get("commit", ""),
        "metadata": metadata,
        "iteration": iteration,
    }
    path = path_of(f"{key}-{iteration}" if iteration else key)
    try:
        return Journal.create(path, head), parameters
    except FileExistsError:
        raise Problem(f"{path} is there already: go on with --resume, or name another experiment.") from None


def _refuse_what_is_for_pytest(parameters: Parameters) -> None:
    """Other runners choose their orders themselves, by a seed."""
    usual = Parameters()
    for name in ("changed_since", "protocol", "how", "fresh"):
        if getattr(parameters, name) != getattr(usual, name):
            raise WrongCommand(f"--{name.replace('_', '-')} is for pytest alone.")


class _Detection:
    """One call of the command: the experiment, what it tells, writes and sends."""

    def __init__(self, options: argparse.Namespace, journal: Journal, parameters: Parameters) -> None:
        self._options = options
        self._journal = journal
        self._parameters = parameters
        self._call = runner_call(parameters.command)
        self._api = self._connected()

    def _connected(self) -> Api | None:
        if self._options.no_upload:
            return None
        if self._call.runner is not PYTEST:
            console.say("nothing is sent: the dashboard takes experiments with pytest.")
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
        head = self._journal.head
        name = f"{head['key']}-{head['iteration']}" if head.get("iteration") else head["key"]
        console.say(f"experiment {name}, seed {self._parameters.seed}; to go on if it is cut short: --resume {name}")
        if not self._parameters.changed_since:
            self._announce()
        experiment = self._experiment()
        interrupted = False
        try:
            experiment.run()
        except KeyboardInterrupt:
            interrupted = True
        except NothingToDo:
            console.say(f"nothing to do: no test is new or changed since {self._parameters.changed_since}")
            os.remove(self._journal.path)
            return DONE
        except Problem:
            self._give_up(experiment.result)
            raise
        body = answer(experiment.result, self._journal)
        self._journal.conclude(body)
        for line in summary.lines(experiment.result):
            console.write(line)
        if self._options.out:
            self._write(body)
        if interrupted:
            console.say(f"interrupted; to go on where it was: --resume {name}")
        new = self._send()
        return INTERRUPTED if interrupted else self._exit_code(body, new)

    def _experiment(self) -> OrderExperiment | RerunExperiment | SeededExperiment:
        if self._call.runner is not PYTEST:
            return SeededExperiment(self._parameters, self._journal, console.say, self._call)
        if self._parameters.protocol == RERUNS:
            return RerunExperiment(self._parameters, self._journal, console.say)
        suspects = Suspects(self._api, self._journal)
        return OrderExperiment(self._parameters, self._journal, console.say, suspects, self._api)

    def _announce(self) -> None:
        if self._api is not None:
            try:
                Sender(self._api, self._journal).announce()
            except Problem as problem:
                console.warn(f"the experiment is not announced yet: {problem}")

    def _give_up(self, result: Result) -> None:
        """Say that it ended, or the dashboard would wait for it for ever; the journal stays open for --resume."""
        if self._api is not None and not self._parameters.changed_since:
            with contextlib.suppress(Problem):
                Sender(self._api, self._journal).finish({**answer(result, self._journal), "ended": "crash"})

    def _send(self) -> list[Any] | None:
        """What the server did not know; None without its answer."""
        if self._api is None:
            return None
        try:
            reply = Sender(self._api, self._journal).send()
        except Problem as problem:
            why = str(problem).rstrip(".")
            alert(f"the experiment was not sent: {why}. Later: flakeboard upload --experiment {self._journal.path}")
            return None
        console.say(str(reply.get("url") or ""))
        new = reply.get("new")
        return new if isinstance(new, list) else None

    def _write(self, body: dict[str, Any]) -> None:
        try:
            with open(self._options.out, "w", encoding="utf-8") as file:
                json.dump(body, file, indent=1)
                file.write("\n")
        except OSError as error:
            raise Problem(f"{self._options.out} cannot be written: {error.strerror or error}") from None

    def _exit_code(self, body: dict[str, Any], new: list[Any] | None) -> int:
        """Without the server's answer every test that was found counts as new."""
        found: list[Any] = [each for each in body["found"] if each["kind"] != UNKNOWN]
        if self._options.fail_on == "new" and new is not None:
            found = new
        return FOUND if found and self._options.fail_on != "never" else DONE


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
