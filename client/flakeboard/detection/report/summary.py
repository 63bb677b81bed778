"""What an experiment found, for people."""

from __future__ import annotations

from typing import Iterator

from flakeboard.detection.changed.targets import STEPS
from flakeboard.detection.experiment import Result
from flakeboard.detection.findings import BRITTLE, ID, INFRASTRUCTURE, NOD, OD, Finding, Group
from flakeboard.detection.laboratory import ORDER, PROBE, Laboratory

_KINDS = {
    NOD: "fails without regard to the order",
    INFRASTRUCTURE: "changes between environments and never within one",
    ID: "depends on the hash seed",
}


def lines(result: Result) -> Iterator[str]:
    """A paragraph for each test, then what was not run."""
    lab = result.lab
    if lab is None:
        return
    yield _headline(result, lab)
    for finding in sorted(result.findings, key=lambda found: found.test):
        yield ""
        yield from _paragraph(lab, finding)
    if result.targets:
        yield ""
        yield from _targets(lab, result)
    if lab.not_run:
        yield ""
        yield f"not run, or not in all orders: {len(lab.not_run):,}"
        yield from (f"  {name}: {why}" for name, why in lab.not_run.items())


def _targets(lab: Laboratory, result: Result) -> Iterator[str]:
    """What of each new or changed test was done, found and left behind."""
    found = {finding.test for finding in result.findings}
    for target in result.targets:
        missing = [step for step in STEPS if step not in target.done]
        about = "found above" if target.test in found else f"nothing found, {target.pairs:,} pairs covered"
        ends = f"; not done: {', '.join(missing)}" if missing else ""
        yield f"{lab.suite.cases[target.test].id} ({target.status}): {about}{ends}"
        yield from (f"  it leaves {what}" for what in target.leaves)


def _headline(result: Result, lab: Laboratory) -> str:
    counts = {kind: sum(finding.kind == kind for finding in result.findings) for kind in (OD, NOD)}
    if not result.findings and not any(entry["kind"] in (ORDER, PROBE) for entry in lab.journal.entries):
        return "no other order was run, so nothing is known of the tests."
    if not result.findings:
        return "no test is found to depend on the order."
    return f"{counts[OD]} order-dependent, {counts[NOD]} flaky in any order, {len(result.findings)} in all."


def _paragraph(lab: Laboratory, finding: Finding) -> Iterator[str]:
    name = lab.suite.cases[finding.test].id
    if finding.kind != OD:
        yield f"{name}: {_KINDS.get(finding.kind, 'is not classified')}"
        yield from (f"  {line}" for line in (finding.why, *finding.notes) if line)
        return
    yield f"{name}: {finding.role or 'order-dependent'}"
    passed, of = finding.alone
    if of:
        yield f"  alone it passes {passed} of {of}"
    for group in finding.groups:
        yield from _group(lab, finding, group)
    if finding.groups:
        yield f"  to repeat it: pytest {' '.join(map(_quoted, lab.suite.names(finding.minimal_order)))}"
    if finding.only_whole:
        yield "  only with the whole suite collected"
    yield from (f"  {line}" for line in finding.state)
    if finding.fixture:
        yield "  a fixture that resets it:"
        yield from (f"    {line}".rstrip() for line in finding.fixture.splitlines())
    if finding.after_failure:
        yield "  it failed after another failure in the same order"
    if not finding.usual:
        yield "  not a usual order: units were torn apart"
    yield from (f"  {note}" for note in finding.notes)


def _group(lab: Laboratory, finding: Finding, group: Group) -> Iterator[str]:
    ends = "passes" if finding.role == BRITTLE else "fails"
    names = ", then ".join(lab.suite.names(group.tests))
    comma = "," if len(group.tests) > 1 else ""
    yield f"  after {names}{comma} it {ends} {group.shown} of {group.of}"
    if group.cleaners:
        yield f"    and passes if {' or '.join(lab.suite.names(group.cleaners))} runs between"


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "'\\''") + "'"
