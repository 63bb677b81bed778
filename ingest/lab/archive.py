"""The archive of an experiment: each report is a whole order of its own, and one file may hold probes."""

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.junit.archives.unpacking import DAMAGE, Member
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused
from ingest.junit.report import ParsedReport
from ingest.junit.upload import EXPERIMENT, FileOutcome, Part, UploadReading, read_files
from ingest.lab.models import ExperimentOrder
from ingest.lab.probes import LONGEST_LINE, Probes, read_probes

PROBES = "probes.jsonl"
_ROUND, _HOW, _SEED = "flakeboard.round", "flakeboard.how", "flakeboard.seed"
_ITERATION, _KIND = "flakeboard.iteration", "flakeboard.kind"
_NUMBER = re.compile(r"-?[0-9]{1,7}")
_ORIGINAL = "original-order"
_Kind = ExperimentOrder.Kind

Place = tuple[int, int]
"""Iteration and round: what tells an experiment's orders apart."""


@dataclass(frozen=True, slots=True)
class OrderLabel:
    """What a file says of the order in which its tests ran."""

    iteration: int
    round: int
    how: str
    seed: str
    kind: str

    @property
    def place(self) -> Place:
        return self.iteration, self.round


@dataclass(slots=True)
class ExperimentReading(UploadReading):
    """The files of an experiment's upload; `labels` belong to `reports`, one each."""

    labels: list[OrderLabel] = field(default_factory=list)
    probes: list[Probes] = field(default_factory=list)


def read_experiment(
    parts: Iterable[Part], limits: Limits, key: str, known: frozenset[bytes], places: frozenset[Place]
) -> ExperimentReading:
    """Read an experiment's upload. Files with a `known` digest and orders at known `places` are there already."""
    reading, taken, digests = ExperimentReading([]), set(places), set(known)

    def probes(member: Member) -> FileOutcome | None:
        return _read_probes(member, key, reading) if member.name.endswith(PROBES) else None

    for outcome in read_files(parts, limits, probes):
        labelled = _labelled(outcome, key)
        reading.read += labelled.account == "read"
        reading.new += bool(labelled.other)
        if labelled.report is not None:
            _add(reading, labelled.report, taken, digests)
        reading.files.append(labelled.as_dict())
    return reading


def _add(reading: ExperimentReading, report: ParsedReport, taken: set[Place], digests: set[bytes]) -> None:
    """Take an order once, whoever sends it again."""
    label = _label_of(report)
    if digests.issuperset(report.content_digests):
        report.warnings.add("known_file", "The experiment has this file already; it is counted once.")
    elif label.place in taken:
        sentence = f"The experiment has an order of round {label.round} already: the first that arrived counts."
        report.warnings.add("known_round", sentence)
    else:
        taken.add(label.place)
        digests.update(report.content_digests)
        reading.reports.append(report)
        reading.labels.append(label)
        reading.new += 1


def _labelled(outcome: FileOutcome, key: str) -> FileOutcome:
    """The outcome, or a refusal where the file does not say which order of this experiment it is."""
    if outcome.report is None:
        return outcome
    properties = outcome.report.properties
    if properties.get(EXPERIMENT) != key:
        sentence = "The file does not belong to this experiment: its property flakeboard.experiment says otherwise."
        return FileOutcome(outcome.name, None, Refused("other_experiment", sentence))
    if not all(_NUMBER.fullmatch(properties.get(name, default)) for name, default in ((_ROUND, ""), (_ITERATION, "0"))):
        sentence = "The file does not say which order it is: flakeboard.round must be a whole number."
        return FileOutcome(outcome.name, None, Refused("no_round", sentence))
    return outcome


def _label_of(report: ParsedReport) -> OrderLabel:
    properties = report.properties
    how = properties.get(_HOW, "")
    stated, usual = properties.get(_KIND, ""), _Kind.SAME if how == _ORIGINAL else _Kind.RANDOM
    return OrderLabel(
        iteration=max(int(properties.get(_ITERATION, "0")), 0),
        round=int(properties[_ROUND]),
        how=how[:80],
        seed=properties.get(_SEED, "")[:255],
        kind=stated if stated in _Kind.values else usual,
    )


def _read_probes(member: Member, key: str, reading: ExperimentReading) -> FileOutcome:
    try:
        if member.error is not None:
            raise member.error
        lines = io.BufferedReader(member.open())
        found = read_probes(iter(lambda: lines.readline(LONGEST_LINE + 1), b""), key)
    except Refused as refusal:
        return FileOutcome(member.name, None, refusal)
    except DAMAGE as error:
        return FileOutcome(member.name, None, Refused("archive_damaged", f"The probes cannot be read: {error}."))
    reading.probes.append(found)
    return FileOutcome(member.name, None, None, other="probes")
