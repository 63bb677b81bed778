"""From "depends on the order" to what it depends on: role, partners, cleaners, each verified."""

from __future__ import annotations

from flakeboard.console import duration
from flakeboard.detection.findings import NOD, VICTIM, Finding
from flakeboard.detection.laboratory import BudgetSpent
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.search.cleaners import CleanerSearch
from flakeboard.detection.search.partners import PartnerSearch, isolate
from flakeboard.detection.search.state import name_state
from flakeboard.detection.search.suspects import Suspects
from flakeboard.detection.search.verification import Verification


def find_dependencies(procedure: Procedure, suspects: Suspects) -> None:
    """Each order-dependent test that has no role yet in turn, with an equal share of what is left of the budget."""
    waiting = [finding for finding in procedure.order_dependent() if not finding.role]
    while waiting:
        finding = waiting.pop(0)
        left = max(procedure.budget - procedure.lab.spent, 0.0)
        procedure.lab.deadline = procedure.lab.spent + left / (len(waiting) + 1)
        name = procedure.lab.suite.cases[finding.test].id
        procedure.say(f"looking for what {name} depends on; at most {duration(left)} left")
        try:
            _explain(procedure, finding, suspects)
        except BudgetSpent:
            finding.groups = [group for group in finding.groups if group.is_shown]
            finding.notes.append("the budget ended before all of it was found out")
            procedure.ended = "budget"
    procedure.lab.deadline = None


def _explain(procedure: Procedure, finding: Finding, suspects: Suspects) -> None:
    lab, parameters = procedure.lab, procedure.parameters
    isolate(lab, finding, parameters.isolate)
    if finding.kind == NOD or not finding.role:
        return
    verification = Verification(lab, finding)
    if not verification.verify_alone() or parameters.minimize == "no":
        return
    passing = procedure.passing_orders(finding.test)
    search = PartnerSearch(lab, finding, passing)
    if parameters.minimize == "all":
        search.all()
    else:
        search.first(suspects.of(finding.test, [case.id for case in lab.suite.cases]))
    for group in list(finding.groups):
        if not verification.verify_group(group):
            return
    if finding.role == VICTIM and parameters.cleaners != "no":
        for group in finding.groups:
            cleaning = CleanerSearch(lab, finding, group, passing)
            if parameters.cleaners == "all":
                cleaning.all()
            else:
                cleaning.first()
            if not verification.verify_cleaners(group):
                return
    finding.is_complete = parameters.minimize == "all" and (finding.role != VICTIM or parameters.cleaners == "all")
    name_state(lab, finding, passing)
