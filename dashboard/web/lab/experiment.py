"""One experiment: what did we learn on purpose?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from analytics.history.names import Names, names
from analytics.kernel.rates import rates_of
from analytics.lab.descriptions import ENDINGS, command_of, sentence_of
from analytics.lab.models import Dependency, ExperimentFinding
from analytics.lab.results import not_run_in
from analytics.lab.whole_orders import WholeOrder, whole_orders
from dashboard.web.decorators import project_page
from dashboard.web.lab.experiments import PROTOCOLS
from dashboard.web.lab.waits import measured_waits
from dashboard.web.paging import numbered_page, offset_asked
from ingest.identity import TestName
from ingest.models import Experiment, Project, Upload

ORDERS_SIZE = 100
_FAILED_SHOWN = 5
KINDS = {
    ExperimentFinding.Kind.OD: "depends on the order",
    ExperimentFinding.Kind.NOD: "fails by chance, in one order too",
    ExperimentFinding.Kind.ID: "depends on what no interface promises, such as the order of a set",
    ExperimentFinding.Kind.INFRASTRUCTURE: "changes between fresh environments, never within one",
    ExperimentFinding.Kind.UNKNOWN: "failed, and was not classified",
    ExperimentFinding.Kind.WHY: "the test",
    ExperimentFinding.Kind.WAITS: "the test whose waits were measured",
    ExperimentFinding.Kind.VERIFY: "the test whose fix was tried",
    ExperimentFinding.Kind.BOUNDS: "the test whose bounds were measured",
}


@dataclass(frozen=True, slots=True)
class OrderRow:
    order: WholeOrder
    failed: Sequence[TestName]

    @property
    def shown(self) -> Sequence[TestName]:
        return self.failed[:_FAILED_SHOWN]

    @property
    def more(self) -> int:
        return len(self.failed) - len(self.shown)

    @property
    def label(self) -> str:
        """A round, or a try of the original order."""
        round_ = f"round {self.order.round}" if self.order.round > 0 else f"try {1 - self.order.round}"
        return f"iteration {self.order.iteration}, {round_}" if self.order.iteration else round_


@dataclass(frozen=True, slots=True)
class FindingRow:
    test: TestName
    finding: ExperimentFinding

    @property
    def meaning(self) -> str:
        return KINDS[ExperimentFinding.Kind(self.finding.kind)]

    @property
    def sentences(self) -> list[str]:
        """What it rests on, as the client reports it."""
        data = self.finding.data
        if self.finding.kind not in ExperimentFinding.OF_ORDERS:
            return [str(data.get("sentence") or "")]
        parts = []
        if alone := data.get("alone"):
            parts.append(f"alone passes {alone['passed']} of {alone['of']}")
        for group in data.get("groups", ()):
            word = "fails" if group["role"] == Dependency.Role.POLLUTER else "passes"
            parts.append(f"after {' then '.join(group['tests'])} {word} {group['agreed']} of {group['of']}")
        for name, run in data.get("runs", {}).items():
            order = "the same order" if name == "same" else "random orders"
            parts.append(f"in {order} failed {run['failed']} of {run['of']}")
        if data.get("after_failure"):
            parts.append("failed after another failure in the same order")
        if data.get("only_whole"):
            parts.append("only with the whole suite collected")
        if data.get("usual") is False:
            parts.append("not a usual order")
        return parts + list(data.get("state", ()))


@project_page
def experiment_detail(request: HttpRequest, project: Project, key: str) -> HttpResponse:
    experiment = Experiment.objects.filter(project=project, key=key).first()
    if experiment is None:
        raise Http404
    orders, findings = whole_orders(experiment), list(experiment.findings.order_by("kind", "number"))
    start = offset_asked(request.GET, ORDERS_SIZE)
    shown = orders[start : start + ORDERS_SIZE]
    known = names(
        project.pk,
        tests={number for order in shown for number in order.failed} | {finding.number for finding in findings},
    )
    context = {
        "project": project,
        "experiment": experiment,
        "sentence": sentence_of(experiment),
        "command": command_of(experiment),
        "protocol": PROTOCOLS[Experiment.Protocol(experiment.protocol)],
        "ending": ENDINGS.get(experiment.how, ""),
        "orders": [OrderRow(order, [known.test(number) for number in order.failed]) for order in shown],
        "page": numbered_page(request.GET, total=len(orders), size=ORDERS_SIZE),
        "found": _by_kind(findings, known),
        "waits": [wait for finding in findings for wait in measured_waits(finding.data)],
        "verified": [row for finding in findings if (row := _verified(finding)) is not None],
        "recipes": [row for finding in findings for row in finding.data.get("recipes", ())],
        "not_run": [pair for result in experiment.results.values() for pair in not_run_in(result)],
        "uploads": Upload.objects.filter(experiment=experiment).defer("files", "metadata").order_by("pk"),
    }
    return render(request, "lab/experiment.html", context)


def _by_kind(findings: Sequence[ExperimentFinding], known: Names) -> list[dict[str, Any]]:
    """Findings by verdict, those that tell most first."""
    rows = [FindingRow(known.test(finding.number), finding) for finding in findings]
    kinds = ((kind, [row for row in rows if row.finding.kind == kind]) for kind in KINDS)
    return [{"title": _title(kind), "rows": of_kind} for kind, of_kind in kinds if of_kind]


def _verified(finding: ExperimentFinding) -> dict[str, Any] | None:
    """Both sides of a fix that was tried: revision, failed and of how many runs, with the interval."""
    if finding.kind != ExperimentFinding.Kind.VERIFY or not finding.data.get("outcome"):
        return None
    data = finding.data
    counts = [data[side] for side in ("before", "after")]
    rates = rates_of(np.array([row["failed"] for row in counts]), np.array([row["runs"] for row in counts]))
    sides = [
        {"side": side, "revision": data["revisions"][side], **data[side], "low": low, "high": high}
        for side, low, high in zip(
            ("before", "after"), np.nan_to_num(rates.low).tolist(), np.nan_to_num(rates.high).tolist(), strict=True
        )
    ]
    return {"outcome": data["outcome"], "p": data["p"], "sides": sides}


def _title(kind: ExperimentFinding.Kind) -> str:
    meaning = KINDS[kind]
    return f"{kind.value}: {meaning}" if kind in ExperimentFinding.OF_ORDERS else meaning[0].upper() + meaning[1:]
