"""Run the benchmarks on a PostgreSQL of their own: `python -m bench [name …]`.

`load`, `scale` and `orders` run only by name: they take minutes and gigabytes."""

import argparse
import sys
from collections.abc import Callable, Iterable

from bench.outcome import Outcome, report
from bench.workspace import at_home

Bench = Callable[[], Iterable[Outcome]]


def main() -> int:
    options = _arguments()
    with at_home():
        usual, large = _usual(), _large(options)
        results = []
        for name in options.names or usual:
            print(f"\n{name}", flush=True)
            for result in (usual | large)[name]():
                print(f"  {result}", flush=True)
                results.append(result)
        return report(results)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*")
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
    return parser.parse_args()


def _usual() -> dict[str, Bench]:
    from bench import accuracy, analysis, memory, pages, policy, processing, reader, storage, weight, worlds

    modules = (reader, processing, storage, memory, weight, analysis, pages, accuracy, worlds, policy)
    return {module.__name__.rpartition(".")[2]: module.run for module in modules}


def _large(options: argparse.Namespace) -> dict[str, Bench]:
    def load() -> Iterable[Outcome]:
        from bench import load
        from bench.traffic import Plan

        plan = Plan(options.seconds, options.uploaders, options.pause, options.projects, options.most)
        return load.run(plan, backlog=options.backlog, turns=options.turns)

    def scale() -> Iterable[Outcome]:
        from bench import day, scale

        part = day.Slice(options.slice, options.slice_reports or day.REPORTS)
        return scale.run(scale.Plan(options.part, options.tests, options.made, options.rounds, part))

    def orders() -> Iterable[Outcome]:
        from bench import detection, lab, schedules

        yield from lab.run()
        yield from detection.run()
        yield from schedules.run()

    def schedules() -> Iterable[Outcome]:
        from bench import schedules

        return schedules.run()

    return {"load": load, "scale": scale, "orders": orders, "schedules": schedules}


if __name__ == "__main__":
    sys.exit(main())
