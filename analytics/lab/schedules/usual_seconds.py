"""How long each test is expected to take: the median of its newest passing executions, else of tests like it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Ints
from analytics.loaders import WINDOW_REPORTS, window_of
from analytics.runs.report_vectors import Renames, Vectors, report_vectors
from ingest.models import Project, Report
from ingest.vectors import decode_durations
from ingest.verdict import Verdict

Floats = npt.NDArray[np.float64]
_ROWS = 1_000_000
"""Executions that are read at most, the newest first: some twenty of each of 50,000 tests."""
_AT_ONCE = 50
_ASSUMED = 1.0
"""Seconds of a test where the project has not a single duration: then all tests are alike."""
_LEAST = 0.001
"""Seconds of a test that took none by its report's clock: a shard of only such tests would get all of them."""
_SECONDS = decode_durations(np.arange(65_536, dtype="<u2").tobytes())


@dataclass(frozen=True, slots=True)
class UsualSeconds:
    seconds: Floats
    """By place; every test has a number."""
    own: int
    """Tests with a median of their own in this environment."""
    elsewhere: int
    """With one of their own in other environments."""
    by_class: int
    """With the median of their class."""
    by_project: int
    """With the median of the project, or with a second where there is none."""

    @property
    def unknown(self) -> int:
        """Tests without a duration of their own."""
        return self.by_class + self.by_project


def usual_seconds(
    project: Project, numbers: Ints, classes: Sequence[str], environment: Mapping[str, str]
) -> UsualSeconds:
    """Of tests by number (-1 for unknown ones) and class, in an environment where that is known."""
    here, elsewhere = _medians(project, numbers, environment)
    seconds = np.where(np.isnan(here), elsewhere, here)
    own, others = int((~np.isnan(here)).sum()), int((np.isnan(here) & ~np.isnan(elsewhere)).sum())
    seconds, by_class = _filled_by_class(seconds, classes)
    by_project = int(np.isnan(seconds).sum())
    known = seconds[~np.isnan(seconds)]
    seconds[np.isnan(seconds)] = float(np.median(known)) if len(known) else _ASSUMED
    return UsualSeconds(np.maximum(seconds, _LEAST), own, others, by_class, by_project)


def _medians(project: Project, numbers: Ints, environment: Mapping[str, str]) -> tuple[Floats, Floats]:
    """By place: the medians in reports of the environment, and in all others; NaN for none."""
    column = _Columns(numbers)
    samples: tuple[list[Ints], list[Ints]] = ([], [])
    renames, rows = Renames(project.pk), 0
    newest = _newest(project)
    for first in range(0, len(newest), _AT_ONCE):
        batch = dict(newest[first : first + _AT_ONCE])
        for report, vectors in report_vectors(list(batch), renames).items():
            sample = column.sample(vectors)
            samples[batch[report] != dict(environment)].append(sample)
            rows += len(sample)
        if rows >= _ROWS:
            break
    return column.medians(samples[0]), column.medians(samples[1])


def _newest(project: Project) -> list[tuple[int, dict[str, str]]]:
    """Reports of the window with their environments, the newest first."""
    span = window_of(project)
    if span is None:
        return []
    reports = Report.counted.filter(project=project, placed_at__gt=span.since, partial=False)
    fields = ("pk", "run__environment")
    return list(reports.order_by("-placed_at", "-pk").values_list(*fields)[:WINDOW_REPORTS])


class _Columns:
    """The places of the tests that are asked for, by number."""

    def __init__(self, numbers: Ints) -> None:
        self._size = len(numbers)
        known = np.flatnonzero(numbers >= 0)
        self._place = np.full(int(numbers.max(initial=-1)) + 2, -1, dtype=np.int64)
        self._place[numbers[known]] = known

    def sample(self, vectors: Vectors) -> Ints:
        """Place and duration code of each passing execution, as one number to sort by."""
        place = self._place[np.minimum(vectors.numbers, len(self._place) - 1)]
        codes = np.frombuffer(vectors.durations.tobytes(), dtype="<u2").astype(np.int64)
        chosen = (vectors.verdicts == Verdict.PASS) & (codes > 0) & (place >= 0)
        return np.asarray((place[chosen] << 16) | codes[chosen])

    def medians(self, samples: Sequence[Ints]) -> Floats:
        """By place: the lower median; codes grow with the seconds, so their median is the median's code."""
        found = np.full(self._size, np.nan)
        if samples:
            every = np.sort(np.concatenate(samples))
            places, first, count = np.unique(every >> 16, return_index=True, return_counts=True)
            found[places] = _SECONDS[every[first + (count - 1) // 2] & 0xFFFF]
        return found


def _filled_by_class(seconds: Floats, classes: Sequence[str]) -> tuple[Floats, int]:
    """Tests without a duration get the median of their class; and how many of them do."""
    missing = np.flatnonzero(np.isnan(seconds))
    if not len(missing):
        return seconds, 0
    wanted = {classes[place] for place in missing}
    known: dict[str, list[float]] = {}
    for place in np.flatnonzero(~np.isnan(seconds)):
        if classes[place] in wanted:
            known.setdefault(classes[place], []).append(float(seconds[place]))
    median = {classname: float(np.median(values)) for classname, values in known.items()}
    filled = seconds.copy()
    for place in missing:
        filled[place] = median.get(classes[place], np.nan)
    return filled, int(np.isnan(seconds).sum() - np.isnan(filled).sum())
