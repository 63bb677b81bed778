"""One computation for each of many arguments, on all processors."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

A = TypeVar("A")
R = TypeVar("R")
_THREADS = "OPENBLAS_NUM_THREADS"


def each(function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[R]:
    """Results in the order of the arguments. The function is one of a module, since its processes start afresh."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"  # a process has one processor
    try:
        workers = min(os.cpu_count() or 1, len(arguments))
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield from pool.map(function, arguments)
    finally:
        del os.environ[_THREADS]
        if before is not None:
            os.environ[_THREADS] = before
