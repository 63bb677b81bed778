"""The options of `detect`, and the parameters that they become."""

from __future__ import annotations

import argparse
import re
import secrets

from flakeboard.detection.parameters import CHANGED, ORDERS, RERUNS, Parameters
from flakeboard.detection.rounds import DEFAULT, HOW
from flakeboard.orders.configurations import RANDOM_METHOD


def add_options(parser: argparse.ArgumentParser) -> None:
    _add_orders(parser)
    _add_search(parser)
    _add_reruns(parser)
    _add_experiment(parser)


def _add_orders(parser: argparse.ArgumentParser) -> None:
    usual = Parameters()
    group = parser.add_argument_group("which orders")
    group.add_argument(
        "--how", type=_how, default=DEFAULT, metavar="LIST", help=f"configurations in turn [{','.join(DEFAULT)}]"
    )
    group.add_argument("--orders", type=_count, default=usual.orders, metavar="N", help="rounds in all [%(default)s]")
    group.add_argument(
        "--budget",
        type=_minutes,
        default=None,
        metavar="MIN",
        help=f"minutes for everything [{usual.budget:.0f}; for reruns none]",
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
    group.add_argument("--experiment", type=_key, default=None, metavar="KEY", help="its name, for jobs that share it")
    group.add_argument("--resume", default="", metavar="KEY", help="go on with an experiment, running nothing twice")
    group.add_argument("--out", default="", metavar="FILE", help="write what was found as JSON")
    group.add_argument("--no-upload", action="store_true", help="send nothing")
    group.add_argument(
        "--fail-on", choices=("new", "any", "never"), default="never", help="exit with 3 if such tests are found"
    )


def _add_reruns(parser: argparse.ArgumentParser) -> None:
    usual = Parameters()
    group = parser.add_argument_group("reruns in fresh environments")
    group.add_argument("--protocol", choices=(ORDERS, RERUNS), default=ORDERS, help="what to run [%(default)s]")
    group.add_argument("--iterations", type=_count, default=usual.iterations, metavar="N", help="environments [10]")
    group.add_argument("--iteration", type=_iteration, default=None, metavar="I/N", help="run this one alone, as 3/10")
    group.add_argument("--runs", type=_count, default=usual.runs, metavar="N", help="runs in the same order [20]")
    group.add_argument("--random-runs", type=int, default=usual.random_runs, metavar="N", help="in random orders [20]")
    group.add_argument(
        "--environment-command", default="", metavar="CMD", help="makes each environment, as: python -m venv .venv"
    )


def _iteration(written: str) -> tuple[int, int]:
    number, _, of = written.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError("must be like 3/10: the third of ten")
    return int(number), int(of)


def _key(written: str) -> str:
    if not re.match(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z", written) or written == "due":
        raise argparse.ArgumentTypeError("must be letters, digits, dots, dashes and underscores, at most 64")
    return written


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


def parameters_of(options: argparse.Namespace) -> Parameters:
    return Parameters(
        command=tuple(options.words),
        how=(*options.how, RANDOM_METHOD) if options.interleave else options.how,
        orders=options.orders,
        budget=options.budget or Parameters().budget,
        has_budget=bool(options.budget) or options.protocol != RERUNS,
        iterations=options.iteration[1] if options.iteration else options.iterations,
        runs=options.runs,
        random_runs=options.random_runs,
        environment_command=options.environment_command,
        tries=options.tries,
        recheck=options.recheck,
        confirm=options.confirm,
        confirm_original=options.confirm_original,
        isolate=options.isolate,
        minimize=options.minimize,
        cleaners=options.cleaners,
        only=tuple(options.only),
        protocol=CHANGED if options.changed_since else options.protocol,
        changed_since=options.changed_since,
        fresh=options.fresh,
        reset=options.reset,
        order_timeout=options.order_timeout,
        seed=options.seed or options.experiment or secrets.token_hex(4),
        reverses=not options.no_reverse,
        without_failing=options.without_failing,
    )
