"""Run the benchmarks on a PostgreSQL of their own: `python -m bench [name …]`.

`load`, `freshness`, `client`, `scale`, `orders`, `why`, `predict` and `reach` run only by name: they take minutes, some of them
gigabytes. Parts of `orders` have names of their own, as `orders.real` and `orders.peers`."""

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib import import_module

from bench import figures
from bench.outcome import Outcome, report
from bench.workspace import at_home

Bench = Callable[[], Iterable[Outcome]]


def main() -> int:
    options = _arguments()
    with at_home():
        usual, large = _usual(), _large(options)
        results = []
        for name in _names(options) or usual:
            print(f"\n{name}", flush=True)
            own = []
            for result in (usual | large)[name]():
                if not result.detail:
                    print(f"  {result}", flush=True)
                own.append(result)
            results += own
            if options.write and name in {block.part for block in figures.blocks()}:
                figures.keep(name, own)
                figures.write()
        return report(results)


def _names(options: argparse.Namespace) -> list[str]:
    """What to run; to write figures, the parts that keep theirs."""
    if not options.write:
        return list(options.names)
    parts = {name: getattr(figures.module_of(name), "PARTS", ()) for name in options.names}
    return [each for name, own in parts.items() for each in ([f"{name}.{part}" for part in own] or [name])]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true", help="keep the figures, and write the docs' tables of them")
    load = parser.add_argument_group("load")
    load.add_argument("--seconds", type=float, default=120, help="how long uploaders send")
    load.add_argument("--uploaders", type=int, default=50)
    load.add_argument("--pause", type=float, default=2, help="seconds, on average, between two uploads of one uploader")
    load.add_argument("--projects", type=int, default=5)
    load.add_argument("--most", type=int, default=20_000, help="uploads, whatever the time")
    load.add_argument("--backlog", type=int, default=1_000, help="uploads for one worker process, then for two")
    load.add_argument("--turns", type=int, default=2, help="how often each of them has its turn")
    scale = parser.add_argument_group("scale")
    scale.add_argument("--part", type=int, default=1, help="so many times fewer reports than 816 million results need")
    scale.add_argument("--tests", type=int, default=50_000, help="tests of the large project")
    scale.add_argument("--made", type=int, default=96, help="reports that come as XML; the others are copies of them")
    scale.add_argument("--rounds", type=int, default=25, help="how often each page is opened")
    scale.add_argument("--slice", type=int, default=12, help="projects of the company whose day is measured")
    scale.add_argument("--slice-reports", type=int, help="reports of each; by default all of a day")
    peers = parser.add_argument_group("orders")
    peers.add_argument("--subjects", type=int, default=5, help="real projects that peers are compared on")
    peers.add_argument("--planted", type=int, default=10, help="planted suites that peers are compared on")
    return parser.parse_args()


def _usual() -> dict[str, Bench]:
    from bench import accuracy, analysis, formats, memory, pages, policy, processing, reader, storage, weight, worlds

    modules = (reader, formats, processing, storage, memory, weight, analysis, pages, accuracy, worlds, policy)
    return {module.__name__.rpartition(".")[2]: module.run for module in modules}


def _large(options: argparse.Namespace) -> dict[str, Bench]:
    def load() -> Iterable[Outcome]:
        from bench.server import load
        from bench.server.traffic import Plan

        plan = Plan(options.seconds, options.uploaders, options.pause, options.projects, options.most)
        return load.run(plan, backlog=options.backlog, turns=options.turns)

    def scale() -> Iterable[Outcome]:
        from bench import day, scale

        part = day.Slice(options.slice, options.slice_reports or day.REPORTS)
        return scale.run(scale.Plan(options.part, options.tests, options.made, options.rounds, part))

    def peers() -> Iterable[Outcome]:
        from bench.peers import comparison

        return comparison.run(options.subjects, options.planted)

    parts = {**_parts("lab"), **_parts("detection"), **_parts("schedules"), "orders.peers": peers}

    def orders() -> Iterable[Outcome]:
        for part in parts.values():
            yield from part()

    def schedules() -> Iterable[Outcome]:
        for part in _parts("schedules").values():
            yield from part()

    def freshness() -> Iterable[Outcome]:
        from bench.server import freshness

        return freshness.run()

    def client() -> Iterable[Outcome]:
        from bench.server import client_cost

        return client_cost.run()

    named = {
        "load": load,
        "freshness": freshness,
        "client": client,
        "scale": scale,
        "orders": orders,
        "schedules": schedules,
    }
    alone = {name: _package(name) for name in ("why", "bounds", "predict", "reach")}
    of_packages = [_parts(package, package) for package in ("predict", "bounds", "why", "reach")]
    return {**named, **alone, **parts, **{name: part for several in of_packages for name, part in several.items()}}


def _package(name: str) -> Bench:
    """A package that runs as a whole, imported when it does."""
    return lambda: import_module(f"bench.{name}").run()


def _parts(package: str, prefix: str = "orders") -> dict[str, Bench]:
    """Parts of `orders` or of another, imported when they run."""

    def bench_of(module: str) -> Bench:
        return lambda: import_module(f"bench.{package}.{module}").run()

    return {f"{prefix}.{name}": bench_of(name) for name in import_module(f"bench.{package}").PARTS}


if __name__ == "__main__":
    sys.exit(main())
