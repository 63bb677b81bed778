"""Experiments: what was learnt on purpose, and when is the next one due?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from analytics.lab.descriptions import sentence_of
from analytics.lab.due import experiment_due
from dashboard.web.decorators import project_page
from dashboard.web.export import exported
from dashboard.web.paging import numbered_page
from dashboard.web.query import choice
from ingest.models import Experiment, Project

PAGE_SIZE = 50
PROTOCOLS = {
    Experiment.Protocol.ORDERS: "orders run on purpose",
    Experiment.Protocol.RERUNS: "reruns in fresh environments",
    Experiment.Protocol.CHANGED: "new and changed tests",
    Experiment.Protocol.WHY: "why one test is flaky",
    Experiment.Protocol.WAITS: "how long one test must wait",
    Experiment.Protocol.VERIFY: "whether a fix is one",
    Experiment.Protocol.BOUNDS: "how wide the bounds of one test must be",
}
HEADERS = (
    *("key", "protocol", "began_at", "ended_at", "how", "commit", "whole", "tests", "orders", "probes"),
    *("order_dependent", "by_chance", "other"),
)


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    experiment: Experiment

    @property
    def sentence(self) -> str:
        return sentence_of(self.experiment)

    @property
    def protocol(self) -> str:
        return PROTOCOLS[Experiment.Protocol(self.experiment.protocol)]


def experiments_of(project: Project) -> "QuerySet[Experiment]":
    return Experiment.objects.filter(project=project).defer("results", "parameters").order_by("-began_at", "-pk")


def newest_experiment(project: Project) -> ExperimentRow | None:
    newest = experiments_of(project).first()
    return None if newest is None else ExperimentRow(newest)


@project_page
def experiment_list(request: HttpRequest, project: Project) -> HttpResponseBase:
    protocol = choice(request.GET, "protocol", Experiment.Protocol.values)
    found = experiments_of(project)
    if protocol:
        found = found.filter(protocol=protocol)
    file = exported(request, f"{project.slug}-experiments", HEADERS, _cells(found))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=found.count(), size=PAGE_SIZE)
    context = {
        "project": project,
        "protocol": protocol,
        "protocols": PROTOCOLS.items(),
        "page": page,
        "rows": [ExperimentRow(experiment) for experiment in found[page.first - 1 : page.last]],
        "due": experiment_due(project),
    }
    return render(request, "lab/experiments.html", context)


def _cells(found: "QuerySet[Experiment]") -> Iterator[list[Any]]:
    for row in found.iterator():
        counts = row.counts
        yield [
            *(row.key, row.protocol, row.began_at, row.ended_at, row.how, row.commit, row.whole),
            *(counts.get("tests", 0), counts.get("orders", 0), row.probes),
            *(counts.get(name, 0) for name in ("od", "nod", "other")),
        ]
