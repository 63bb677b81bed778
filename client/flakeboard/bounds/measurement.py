"""The procedure: run, ask how sure the bounds are, and run more until they are sure enough or the time is up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

from flakeboard.bounds.laboratory import Laboratory
from flakeboard.bounds.parameters import BROKEN_SHARE, FIRST, MORE, PER_PROCESS, SIGNIFICANT, Parameters
from flakeboard.bounds.series import Measurement, SiteSeries, seeds_of, series_of
from flakeboard.bounds.variance import p_value_of_groups

Conclude = Callable[[Sequence[SiteSeries], int, int, bool], "Mapping[str, Any] | None"]
"""Series, runs and failed ones, and whether to keep them -> the server's answer; None where nobody is asked."""
BROKEN = "It is broken, not random: {failed} of {runs} runs failed."
NO_VALUES = "It has no approximate assertion that was reached: nothing to measure."


@dataclass
class Findings:
    test: str
    runs: list[Measurement] = field(default_factory=list)
    answer: Mapping[str, Any] | None = None
    stopped: str = ""
    """Why nothing is concluded."""
    notes: list[str] = field(default_factory=list)
    site: str = ""

    @property
    def failed(self) -> int:
        return sum(run.failed for run in self.runs)

    @property
    def series(self) -> list[SiteSeries]:
        return series_of(self.runs, self.site)

    @property
    def seeds(self) -> list[str]:
        return seeds_of(self.runs)


def measure(
    lab: Laboratory, parameters: Parameters, test: str, conclude: Conclude, say: Callable[[str], None]
) -> Findings:
    """All runs of one test, and what follows from them."""
    findings = Findings(test, site=parameters.site)
    per_process = 1 if parameters.fresh else PER_PROCESS
    findings.runs = lab.run(test, min(FIRST, parameters.runs), per_process)
    if _is_over(findings):
        return findings
    if not parameters.fresh and _differ_by_process(findings.series):
        findings.notes.append(
            "Runs of one process are more alike than those of different ones: each run has its own now."
        )
        say(findings.notes[-1])
        per_process = 1
        findings.runs = lab.run(test, min(FIRST, parameters.runs), per_process)
    while len(findings.runs) < parameters.runs and lab.left > 0:
        say(f"{len(findings.runs):,} runs, {findings.failed:,} failed")
        answer = conclude(findings.series, len(findings.runs), findings.failed, False)
        if answer is not None and _is_precise(answer):
            break
        more = lab.run(test, min(MORE, parameters.runs - len(findings.runs)), per_process)
        if not more:
            break
        findings.runs += more
    if lab.left <= 0:
        findings.notes.append(f"The budget ended it after {len(findings.runs):,} runs.")
    _note_runs_without_values(findings)
    findings.answer = conclude(findings.series, len(findings.runs), findings.failed, True)
    return findings


def _is_over(findings: Findings) -> bool:
    runs = len(findings.runs)
    if not findings.series:
        findings.stopped = NO_VALUES
    elif runs >= FIRST and findings.failed >= BROKEN_SHARE * runs:
        findings.stopped = BROKEN.format(failed=findings.failed, runs=runs)
    return bool(findings.stopped)


def _differ_by_process(series: Sequence[SiteSeries]) -> bool:
    wanted = SIGNIFICANT / max(len(series), 1)
    return any(p_value_of_groups(each.differences, each.processes) < wanted for each in series)


def _is_precise(answer: Mapping[str, Any]) -> bool:
    conclusions = [site["conclusion"] for site in answer["sites"]]
    return all(each["is_precise"] or each["obstacle"] == "constant" for each in conclusions)


def _note_runs_without_values(findings: Findings) -> None:
    for series in findings.series:
        missing = len(findings.runs) - len(series.values)
        if missing:
            where = f"{series.site.file}:{series.site.line}"
            findings.notes.append(f"{missing:,} runs did not come to {where}.")
