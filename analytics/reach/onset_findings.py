"""What changed when tests became flaky, from the changes that CI told: a finding of each analysis."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from analytics.findings.json_values import Finding, number
from analytics.history.names import names
from analytics.kernel.analysis import Analysis
from analytics.kernel.causes.onset_changes import FileGroup, OnsetChange, onset_changes
from analytics.kernel.executions import Ints
from analytics.loaders import Loaded
from analytics.reach.file_kinds import FileKind, OwnFiles, kind_of_file
from analytics.reach.ranges import KnownChanges, RangeChange
from ingest.models import Project, Run

_COMPARED = 500
"""Other changes, the newest, that say what changes anyway."""
_KINDS = {FileKind.TEST: FileGroup.TESTS, FileKind.CODE: FileGroup.CODE, FileKind.BUILD: FileGroup.BUILD}


def onset_findings(project: Project, found: Analysis, loaded: Loaded) -> dict[int, Finding]:
    """By number of a flaky test: which kinds of files changed between its last pass and its first proof, with how often
    they change anyway. Without those of which nobody knows what changed."""
    known = KnownChanges(project)
    if not known:
        return {}
    ranges = _ranges(found, loaded)
    changes = _changes(known, ranges)
    spread = known.spread(_COMPARED)
    tests = names(project.pk, tests=changes).tests
    own = OwnFiles({path for change in changes.values() for path in change.possible}.union(*spread.values()))
    others = _Others(spread)
    findings = {}
    for test, change in changes.items():
        if test not in tests:
            continue
        findings[test] = {
            "before": ranges[test].before,
            "after": ranges[test].after,
            "kinds": [_stored(each) for each in _judged(change, own.of(tests[test]), others)],
        }
    return findings


def stored_changes(finding: Finding) -> list[OnsetChange]:
    """The kinds of a finding as they were computed."""
    return [OnsetChange(**{**kind, "what": FileGroup(kind["what"])}) for kind in finding["kinds"]]


def _stored(change: OnsetChange) -> Finding:
    return {
        "what": change.what.value,
        "changed": change.changed,
        "others": change.others,
        "of": change.of,
        "chance": None if change.chance is None else number(change.chance),
    }


# -- ranges ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Range:
    run: int
    """The run of its first proof."""
    before: str
    """The commit of its last pass on the default branch; empty for a proof of a pull request or another branch."""
    after: str


def _ranges(found: Analysis, loaded: Loaded) -> dict[int, _Range]:
    """By number of a flaky test."""
    reports, first = found.window.reports, found.failed.onsets.first
    clean = _last_clean(found)
    runs: dict[int, tuple[int, int | None]] = {}
    for place in np.flatnonzero(found.failed.is_flaky & (first >= 0)).tolist():
        run = int(loaded.run_ids[reports.run[first[place]]])
        if not reports.default_branch[first[place]]:
            runs[place] = run, None
        elif clean[place] >= 0:
            runs[place] = run, int(loaded.run_ids[reports.run[clean[place]]])
    ids = {run for pair in runs.values() for run in pair if run is not None}
    commits = dict(Run.objects.filter(pk__in=ids).values_list("pk", "commit"))
    ranges = {}
    for place, (run, last) in runs.items():
        before = "" if last is None else commits.get(last, "")
        if commits.get(run) and (last is None or before):
            ranges[int(found.window.failing[place])] = _Range(run, before, commits[run])
    return ranges


def _last_clean(found: Analysis) -> Ints:
    """By place: the last report of the default branch before its first proof in which it only passed; else -1."""
    every, reports = found.outside.executions, found.window.reports
    ran = every.where(every.executed & reports.default_branch[every.report])
    passed = np.flatnonzero(ran.last_attempt)[~ran.any_attempt(ran.failing)]
    passed = passed[ran.report[passed] < found.failed.onsets.first[ran.test[passed]]]
    clean = np.full(ran.tests, -1, dtype=np.int64)
    clean[ran.test[passed]] = ran.report[passed]  # reports rise within a test, so the last one wins
    return clean


def _changes(known: KnownChanges, ranges: Mapping[int, _Range]) -> dict[int, RangeChange]:
    """By number. The change of a pull request or branch is told from where it left the default branch."""
    between = known.between({(each.before, each.after) for each in ranges.values() if each.before})
    alone = known.of_runs({each.run for each in ranges.values() if not each.before})
    found = {
        test: between.get((each.before, each.after)) if each.before else alone.get(each.run)
        for test, each in ranges.items()
    }
    return {test: change for test, change in found.items() if change is not None}


# -- kinds -------------------------------------------------------------------------------------------------------


def _kinds(paths: Iterable[str], own: frozenset[str] = frozenset()) -> frozenset[FileGroup]:
    others = {_KINDS[kind] for path in paths if path not in own and (kind := kind_of_file(path)) in _KINDS}
    return frozenset(others | ({FileGroup.OWN} if not own.isdisjoint(paths) else set()))


class _Others:
    """Other changes of the project: how many have a kind of file."""

    def __init__(self, spread: Mapping[int, frozenset[str]]) -> None:
        self._kinds = {change: _kinds(paths) for change, paths in spread.items()}
        self._totals = {what: sum(what in kinds for kinds in self._kinds.values()) for what in _KINDS.values()}
        self._by_path: dict[str, set[int]] = {}
        for change, paths in spread.items():
            for path in paths:
                self._by_path.setdefault(path, set()).add(change)

    def counts(self, without: frozenset[int], own: frozenset[str]) -> tuple[dict[FileGroup, int], int]:
        """By kind, and of how many, apart from the changes of the range itself."""
        inside = [self._kinds[change] for change in without if change in self._kinds]
        counts = {what: total - sum(what in kinds for kinds in inside) for what, total in self._totals.items()}
        with_own = set().union(*(self._by_path.get(path, set()) for path in own)) - without
        return {**counts, FileGroup.OWN: len(with_own)}, len(self._kinds) - len(inside)


def _judged(change: RangeChange, own: frozenset[str], others: _Others) -> list[OnsetChange]:
    counts, of = others.counts(change.steps, own)
    return onset_changes(_kinds(change.sure, own), _kinds(change.possible, own), len(change.steps), counts, of)
