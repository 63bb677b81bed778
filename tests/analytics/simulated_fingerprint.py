"""A digest of a simulated history: what happened in it, what is true of it, and its first uploads byte for byte."""

from hashlib import blake2b
from itertools import islice

import numpy as np

from analytics.simulation import History

_OF_REPORT = (
    "started",
    "build",
    "attempt",
    "revision",
    "commit",
    "pull_request",
    "environment",
    "host",
    "order",
    "order_stated",
)
_OF_FLAKE = ("number", "kind", "onset", "again", "since", "until", "partners", "cleaners", "group")
_OF_REGRESSION = ("number", "first", "fixed", "default_branch", "environment")


def fingerprint(history: History) -> str:
    ran, truth = history.ran, history.truth
    digest = blake2b(digest_size=8)
    for column in (ran.number, ran.report, ran.ordinal, ran.cause, history.every, history.attempt, *ran.orders):
        digest.update(np.ascontiguousarray(column).tobytes())
    for rows, names in (
        (ran.reports, _OF_REPORT),
        (truth.flakes.values(), _OF_FLAKE),
        (truth.regressions, _OF_REGRESSION),
    ):
        digest.update(repr([tuple(str(getattr(row, name)) for name in names) for row in rows]).encode())
    digest.update(repr((sorted(truth.incidents), sorted(truth.renames.items()), history.names)).encode())
    for upload in islice(history.uploads(), 3):
        digest.update(repr((upload.metadata, upload.files)).encode())
    return digest.hexdigest()
