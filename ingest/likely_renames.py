"""Likely renames: a test that disappeared and a similar new one in the same report. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

LIKELY = 0.82
"""Below this share of common characters two names are two tests. Chosen on renames in real histories."""
MOVED = 0.6
"""The same for the classes of two tests with equal names: a move to another folder keeps most of the class."""
_CANDIDATES = 200
"""How many new names a missing name is compared with at most."""
_MOST = 2_000
"""More changes than this in one report are a new suite, not renames."""


@dataclass(frozen=True, slots=True)
class RenameCandidate:
    number: int
    classname: str
    name: str


@dataclass(frozen=True, slots=True)
class LikelyRename:
    old: int
    new: int
    score: float


def likely_renames(gone: Sequence[RenameCandidate], new: Sequence[RenameCandidate]) -> list[LikelyRename]:
    """Pairs of a missing and a new test, each used once, the most similar first."""
    if not gone or not new or len(gone) > _MOST or len(new) > _MOST:
        return []
    by_name, by_class = defaultdict(list), defaultdict(list)
    for test in new:
        by_name[test.name].append(test)
        by_class[test.classname].append(test)
    pairs = []
    for old in gone:
        moved = [(test, _alike(old.classname, test.classname, MOVED)) for test in by_name[old.name][:_CANDIDATES]]
        renamed = [(test, _alike(old.name, test.name, LIKELY)) for test in by_class[old.classname][:_CANDIDATES]]
        pairs += [LikelyRename(old.number, test.number, round(score, 3)) for test, score in (*moved, *renamed) if score]
    return _each_once(pairs)


def _alike(old: str, new: str, least: float) -> float:
    """The share of common characters; 0 if it is below `least`."""
    return float(Indel.normalized_similarity(old[:300], new[:300], score_cutoff=least))


def _each_once(pairs: Iterable[LikelyRename]) -> list[LikelyRename]:
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    chosen = []
    for pair in sorted(pairs, key=lambda pair: (-pair.score, pair.old, pair.new)):
        if pair.old not in taken_old and pair.new not in taken_new:
            taken_old.add(pair.old)
            taken_new.add(pair.new)
            chosen.append(pair)
    return chosen
