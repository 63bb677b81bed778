"""Failures in a row, and how likely a failure is to be followed by another.

See docs/concepts.md#bursts-and-failing-again."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Floats, Ints


class Context(IntEnum):
    """How a failure was rerun. The numbers are stored: never renumber."""

    IN_PROCESS = 0
    ALONE = 1
    SUITE = 2


@dataclass(frozen=True, slots=True)
class Bursts:
    """Per test: bursts over all its streams, and which outcome followed which at one revision."""

    count: Ints
    longest: Ints
    mean: Floats
    """NaN where a test never failed."""
    lengths: Ints
    """The length of every burst, by test and time."""
    test: Ints
    """The test of every burst."""
    fail_fail: Ints
    fail_pass: Ints
    """Consecutive executions in one stream at one revision, by how the second ended after a failing first."""
    pass_fail: Ints
    pass_pass: Ints
    """The same after a passing first, across revisions too: how often failures set in."""
    retry_fail: Ints
    retry_pass: Ints
    """Of the first two, those where both were attempts in one report."""
    alone_fail: Ints
    alone_pass: Ints
    """Of the first two, those where the second was in a later report of the same run."""

    @property
    def context(self) -> Ints:
        """The closest kind of rerun that the test has: a retry (at once, same machine and order), a rerun of failing
        tests alone in a new process, or the next full run."""
        in_process, alone = self.retry_fail + self.retry_pass > 0, self.alone_fail + self.alone_pass > 0
        return np.where(in_process, Context.IN_PROCESS, np.where(alone, Context.ALONE, Context.SUITE)).astype(np.int64)

    def followed(self, context: Context) -> tuple[Ints, Ints]:
        """Reruns of a failure in one context that failed, and that passed."""
        if context is Context.IN_PROCESS:
            return self.retry_fail, self.retry_pass
        if context is Context.ALONE:
            return self.alone_fail, self.alone_pass
        return self.fail_fail - self.retry_fail - self.alone_fail, self.fail_pass - self.retry_pass - self.alone_pass

    @property
    def again(self) -> Ints:
        """Reruns of a failure that failed, in the test's context: they are never pooled."""
        return np.choose(self.context, [self.followed(context)[0] for context in Context])

    @property
    def cleared(self) -> Ints:
        """Reruns of a failure that passed."""
        return np.choose(self.context, [self.followed(context)[1] for context in Context])


def bursts(
    executions: Executions,
    stream: npt.NDArray[np.integer],
    revision: npt.NDArray[np.integer],
    run: npt.NDArray[np.integer] | None = None,
) -> Bursts:
    """Maximal runs of consecutive failing executions within a stream (`stream`, `revision`, `run` by report).

    Skips are not executions: they neither end a burst nor make it longer."""
    ran = executions.where(executions.executed)
    key, at = by_stream(ran, stream)
    test, report, failing = ran.test[at], ran.report[at], ran.failing[at]
    same_stream = np.zeros(len(test), dtype=bool)
    same_stream[1:] = key[1:] == key[:-1]
    before = np.zeros(len(test), dtype=bool)
    before[1:] = failing[:-1]
    starts = np.flatnonzero(failing & ~(same_stream & before))
    after = np.ones(len(test), dtype=bool)
    after[:-1] = ~(failing[1:] & same_stream[1:])
    ends = np.flatnonzero(failing & after)
    lengths, owner = ends - starts + 1, test[starts]
    count = np.bincount(owner, minlength=ran.tests)
    total = np.bincount(owner, weights=lengths, minlength=ran.tests)
    longest = np.zeros(ran.tests, dtype=np.int64)
    np.maximum.at(longest, owner, lengths)
    paired, retried = same_stream.copy(), same_stream.copy()
    paired[1:] &= revision[report[1:]] == revision[report[:-1]]
    retried[1:] &= report[1:] == report[:-1]
    alone = paired & ~retried
    alone[1:] &= np.False_ if run is None else run[report[1:]] == run[report[:-1]]

    def pairs(chosen: npt.NDArray[np.bool_]) -> Ints:
        return np.bincount(test[chosen], minlength=ran.tests).astype(np.int64)

    return Bursts(
        count=count.astype(np.int64),
        longest=longest,
        mean=np.divide(total, count, out=np.full(ran.tests, np.nan), where=count > 0),
        lengths=lengths.astype(np.int64),
        test=owner.astype(np.int64),
        fail_fail=pairs(paired & before & failing),
        fail_pass=pairs(paired & before & ~failing),
        pass_fail=pairs(same_stream & ~before & failing),
        pass_pass=pairs(same_stream & ~before & ~failing),
        retry_fail=pairs(retried & before & failing),
        retry_pass=pairs(retried & before & ~failing),
        alone_fail=pairs(alone & before & failing),
        alone_pass=pairs(alone & before & ~failing),
    )


def by_stream(ran: Executions, stream: npt.NDArray[np.integer]) -> tuple[Ints, npt.NDArray[np.intp] | slice]:
    """Rows in order of test, stream and time: the stream of each, and their original indices, which are all of them
    where there is one stream."""
    streams = int(stream.max(initial=-1)) + 2
    key = ran.test.astype(np.int64) * streams + stream[ran.report]
    if len(stream) and (stream == stream[0]).all():
        return key, slice(None)
    at = np.argsort(key, kind="stable")
    return key[at], at
