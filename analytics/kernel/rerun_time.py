"""The share of test time that goes into reruns. See docs/concepts.md#time-of-running-again."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Flags, Floats
from analytics.kernel.window import Reports, Window


@dataclass(frozen=True, slots=True)
class RerunTime:
    """Seconds of tests in the window, without those of unknown duration."""

    attempts: float
    """In attempts after the first, in runs that are not repetitions."""
    repeated: float
    """In runs that repeat an earlier one."""
    total: float
    repeated_runs: int
    runs: int
    untimed: int
    """Reports without any duration."""
    by_run: Floats
    """Seconds of running again, by run: its later attempts, or all of a run that is a repetition."""

    @property
    def share(self) -> float:
        """NaN where no duration is known."""
        return (self.attempts + self.repeated) / self.total if self.total else float("nan")


def rerun_time(window: Window) -> RerunTime:
    reports = window.reports
    repeated = repeated_runs(reports)
    again = repeated[reports.run]
    attempts = window.retry_seconds + _alone_seconds(window)
    return RerunTime(
        attempts=float(attempts[~again].sum()),
        repeated=float(reports.seconds[again].sum()),
        total=float(reports.seconds.sum()),
        repeated_runs=int(np.count_nonzero(repeated)),
        runs=len(repeated),
        untimed=int(np.count_nonzero((reports.executed > 0) & (reports.seconds == 0))),
        by_run=np.bincount(
            reports.run, weights=np.where(again, reports.seconds, attempts), minlength=len(repeated)
        ).astype(np.float64),
    )


def repeated_runs(reports: Reports) -> Flags:
    """By run: an earlier run of its kind had the same revision of the same branch or pull request."""
    runs, first = np.unique(reports.run, return_index=True)
    repeated = np.zeros(int(reports.run.max(initial=-1)) + 1, dtype=bool)
    kind = reports.environment if reports.kind is None else reports.kind
    known = reports.revision[first] >= 0
    runs, first = runs[known], first[known]
    does = np.stack([kind[first], reports.revision[first], reports.branch[first]], axis=1)[np.argsort(first)]
    _, original = np.unique(does, axis=0, return_index=True)
    later = np.ones(len(runs), dtype=bool)
    later[original] = False
    repeated[runs[np.argsort(first)][later]] = True
    return repeated


def _alone_seconds(window: Window) -> Floats:
    """By report: seconds of first attempts of tests that an earlier report of the same run had executed."""
    ran, run = window.executions, window.reports.run
    if len(np.unique(run)) == len(run):
        return np.zeros(len(run))
    first = np.flatnonzero(ran.executed & (ran.ordinal == 0))
    cells = ran.test[first].astype(np.int64) * (int(run.max()) + 1) + run[ran.report[first]]
    again = np.ones(len(first), dtype=bool)
    again[np.unique(cells, return_index=True)[1]] = False
    rows = first[again]
    seconds = np.nan_to_num(ran.duration[rows]).astype(np.float64)
    return np.bincount(ran.report[rows], weights=seconds, minlength=len(run)).astype(np.float64)
