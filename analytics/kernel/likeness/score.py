"""How much a test looks flaky, by the tests like it and the tests beside it: an order to ask by, no probability."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.likeness.neighbours import Neighbours, Sketches, known, nearest


@dataclass(frozen=True, slots=True)
class Units:
    """Tests by function: all parameters of one are one unit."""

    number: Ints
    """What ties are decided by."""
    group: Ints
    """Its class, or its file where there is no class; -1 where neither is known."""
    sketch: Sketches

    def __len__(self) -> int:
        return len(self.number)

    def take(self, rows: Ints | Flags | slice) -> "Units":
        return Units(self.number[rows], self.group[rows], self.sketch[rows])


@dataclass(frozen=True, slots=True)
class Beside:
    """By question: the labelled units of its group, without itself."""

    flaky: Ints
    labelled: Ints
    base: float
    """The project's share of flaky units, for groups of which little is known."""

    @property
    def score(self) -> Floats:
        return np.asarray((self.flaky + self.base) / (self.labelled + 1))


@dataclass(frozen=True, slots=True)
class Scores:
    """By question."""

    score: Floats
    like: Floats
    """NaN where there is no sketch of it, or none to compare it with."""
    beside: Beside
    neighbours: Neighbours
    """Places among the examples."""


def beside(questions: Units, examples: Units, flaky: Flags) -> Beside:
    """How many of the labelled units of its group are flaky; a question that is an example does not count itself."""
    size = int(max(questions.group.max(initial=0), examples.group.max(initial=0))) + 1
    grouped = examples.group >= 0
    all_ = np.bincount(examples.group[grouped], minlength=size)
    bad = np.bincount(examples.group[grouped & flaky], minlength=size)
    where = np.maximum(questions.group, 0)
    some_group = questions.group >= 0
    count = np.where(some_group, all_[where], 0)
    ill = np.where(some_group, bad[where], 0)
    own, own_flaky = _own(questions, examples, flaky)
    base = (int(flaky.sum()) + 0.5) / (len(flaky) + 1)
    return Beside(ill - (own_flaky & some_group), count - (own & some_group), base)


def score(questions: Units, examples: Units, flaky: Flags) -> Scores:
    """The mean of like and beside; beside alone where there is no sketch."""
    sketched = np.flatnonzero(known(examples.sketch))
    found = _without_itself(questions, examples, sketched)
    like, near = found.like(flaky), beside(questions, examples, flaky)
    return Scores(mean_of(like, near), like, near, found)


def mean_of(like: Floats, near: Beside) -> Floats:
    return np.where(np.isnan(like), near.score, (like + near.score) / 2)


def _without_itself(questions: Units, examples: Units, sketched: Ints) -> Neighbours:
    """The nearest examples, as places among all examples; a unit that is an example is not its own neighbour."""
    learnt = examples.take(sketched)
    itself = np.isin(questions.number, learnt.number)
    found = nearest(questions.sketch, learnt.sketch, learnt.number)
    if itself.any():
        again = nearest(questions.sketch[itself], learnt.sketch, learnt.number, found.example.shape[1] + 1)
        own = learnt.number[again.example] == questions.number[itself][:, None]
        last = np.argsort(own, axis=1, kind="stable")
        example, distance = (np.take_along_axis(array, last, 1) for array in (again.example, again.distance))
        gone = np.take_along_axis(own, last, 1)
        example, distance = np.where(gone, -1, example), np.where(gone, np.nan, distance)
        width = found.example.shape[1]
        found.example[itself], found.distance[itself] = example[:, :width], distance[:, :width]
    return Neighbours(np.where(found.example >= 0, sketched[found.example], -1), found.distance)


def _own(questions: Units, examples: Units, flaky: Flags) -> tuple[Flags, Flags]:
    """Which questions are examples themselves, and flaky ones."""
    return np.isin(questions.number, examples.number), np.isin(questions.number, examples.number[flaky])
