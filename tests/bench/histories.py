"""Small histories, written as people would draw them: a row of words for each test, a word for each report."""

from collections.abc import Iterable, Sequence

import numpy as np

from analytics.kernel.assembly import Assembly
from analytics.kernel.window import Attempts, Reports, SignatureRows, Window
from analytics.simulation.truth import Flake, Kind, Regression, Truth
from ingest.vectors import RETRIED
from ingest.verdict import Verdict

LETTERS = {"P": Verdict.PASS, "F": Verdict.FAIL, "E": Verdict.ERROR, "S": Verdict.SKIP}
ABSENT = "."
DAY = 86_400.0


def window_of(
    rows: Sequence[str],
    *,
    revision: Sequence[int] | None = None,
    environment: Sequence[int] | None = None,
    run: Sequence[int] | None = None,
    main: Sequence[bool] | None = None,
    orders: Sequence[Sequence[int]] = (),
    order: Sequence[int] | None = None,
) -> Window:
    """A report a day. "P F FP ." is a pass, a failure, a failure that passed on retry, and an absence.

    Every report is a revision of the default branch and a run of its own unless told otherwise."""
    words = [row.split() for row in rows]
    reports = len(words[0])
    failing = [number for number, cells in enumerate(words) if any(set(cell) & {"F", "E"} for cell in cells)]
    assembly = Assembly(len(words), np.array(failing, dtype=np.int64), reports)
    for report in range(reports):
        _add(assembly, report, [cells[report] for cells in words])
    none = np.zeros(0, dtype=np.int64)
    return assembly.build(
        _reports(reports, revision, environment, run, main, order),
        _attempts(words),
        SignatureRows(none, none, none, none),
        suite=np.zeros(len(words), dtype=np.int64),
        signatures=(),
        orders=tuple(np.array(numbers, dtype=np.int64) for numbers in orders),
        excluded={},
    )


def _add(assembly: Assembly, report: int, cells: list[str]) -> None:
    numbers = [number for number, cell in enumerate(cells) if cell != ABSENT]
    vector = [LETTERS[cells[number][-1]] | (RETRIED if len(cells[number]) > 1 else 0) for number in numbers]
    assembly.add(
        report, np.array(numbers, np.int64), np.array(vector, np.uint8), np.full(len(numbers), 1.0, np.float32)
    )


def _attempts(words: list[list[str]]) -> Attempts:
    rows = [
        (number, report, ordinal, int(LETTERS[letter]))
        for number, cells in enumerate(words)
        for report, cell in enumerate(cells)
        if len(cell) > 1
        for ordinal, letter in enumerate(cell)
    ]
    number, report, ordinal, verdict = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Attempts(number, report, ordinal, verdict, np.ones(len(rows)), np.zeros(len(rows), dtype=bool))


def _reports(
    count: int,
    revision: Sequence[int] | None,
    environment: Sequence[int] | None,
    run: Sequence[int] | None,
    main: Sequence[bool] | None,
    order: Sequence[int] | None,
) -> Reports:
    def column(given: Sequence[int] | None, usual: np.ndarray) -> np.ndarray:
        return usual if given is None else np.array(given, dtype=np.int64)

    zeros, each = np.zeros(count, dtype=np.int64), np.arange(count)
    on_main = np.ones(count, dtype=bool) if main is None else np.array(main, dtype=bool)
    return Reports(
        started=each * DAY,
        revision=column(revision, each),
        environment=column(environment, zeros),
        host=zeros,
        run=column(run, each),
        default_branch=on_main,
        pull_request=~on_main,
        branch=np.where(on_main, 0, each + 1),
        order=column(order, zeros - 1),
        errors=zeros > 0,
        executed=zeros,
        seconds=zeros.astype(np.float64),
        decided=zeros,
    )


def truth(flakes: Iterable[Flake] = (), regressions: Iterable[Regression] = (), incidents: Iterable[int] = ()) -> Truth:
    return Truth({flake.number: flake for flake in flakes}, tuple(regressions), frozenset(incidents), {})


def flake(number: int, kind: Kind = Kind.INDEPENDENT, **more: object) -> Flake:
    return Flake(number, kind, onset=0.1, again=0.1, **more)  # type: ignore[arg-type]
