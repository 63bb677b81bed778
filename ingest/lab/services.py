"""Services that write experiments: announced, their orders and probes stored, and ended."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from ingest.lab.archive import ExperimentReading, Place
from ingest.lab.models import Experiment, ExperimentOrder, ProbeBatch
from ingest.lab.probes import MOST_PROBES, Probe, packed, unpacked
from ingest.models import Project, Report, Upload

_HOSTS_KEPT = 100


class ExperimentConflict(Exception):
    """Another experiment has this key: the name of what differs."""


@transaction.atomic
def experiment_begin(
    *,
    project: Project,
    key: str,
    protocol: str,
    parameters: Mapping[str, Any],
    seed: str = "",
    revision: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    host: str = "",
    whole: bool = True,
) -> tuple[Experiment, bool]:
    """Announce an experiment, or join one: the second value is whether it is new.

    Raises ExperimentConflict where the key belongs to an experiment that was asked for something else."""
    stated = {name: (revision or {}).get(name, "") for name in ("commit", "tree", "branch")}
    terms = {"protocol": protocol, "parameters": dict(parameters), "seed": seed, "whole": whole}
    held = Experiment.objects.select_for_update(no_key=True)
    experiment, created = held.get_or_create(
        project=project, key=key, defaults={**terms, **stated, "environment": dict(environment or {})}
    )
    for name, value in {**terms, "commit": stated["commit"]}.items():
        if getattr(experiment, name) != value:
            raise ExperimentConflict(name)
    if host and host not in experiment.hosts and len(experiment.hosts) < _HOSTS_KEPT:
        experiment.hosts = [*experiment.hosts, host]
        experiment.save(update_fields=["hosts"])
    return experiment, created


@transaction.atomic
def experiment_finish(*, experiment: Experiment, result: Mapping[str, Any], iteration: int = 0) -> Experiment:
    """Keep what the client reports at the end; a later report of the same iteration replaces it."""
    held = Experiment.objects.select_for_update(no_key=True).get(pk=experiment.pk)
    held.results = {**held.results, str(iteration): dict(result)}
    held.how = str(result.get("ended", ""))[:12]
    held.ended_at, held.concluded = timezone.now(), False
    held.save(update_fields=["results", "how", "ended_at", "concluded"])
    return held


# -- what uploads bring ------------------------------------------------------------------------------------------


def order_places(experiment: Experiment, *, besides: int) -> frozenset[Place]:
    """Iteration and round of the orders that other uploads brought."""
    stored = ExperimentOrder.objects.filter(experiment=experiment).exclude(report__upload_id=besides)
    return frozenset(stored.values_list("iteration", "round"))


def experiment_store(*, upload: Upload, reading: ExperimentReading, reports: Sequence[Report]) -> None:
    """Store what an upload says of its experiment besides the reports. Call it inside the transaction that locks the
    experiment's run."""
    assert upload.experiment_id is not None
    for report, label in zip(reports, reading.labels, strict=True) if reports else ():
        ExperimentOrder.objects.update_or_create(
            report=report,
            defaults={
                "experiment_id": upload.experiment_id,
                "iteration": label.iteration,
                "round": label.round,
                "how": label.how,
                "seed": label.seed,
                "kind": label.kind,
            },
        )
    _probes_store(upload, reading)
    Experiment.objects.filter(pk=upload.experiment_id).update(concluded=False)


def _probes_store(upload: Upload, reading: ExperimentReading) -> None:
    """Store the probes that are new, as many as there is room for."""
    ProbeBatch.objects.filter(upload=upload).delete()
    stored = ProbeBatch.objects.filter(experiment=upload.experiment_id)
    known = {(batch.iteration, probe.number) for batch in stored for probe in unpacked(bytes(batch.content))}
    for file in reading.probes:
        fresh: dict[int, Probe] = {}
        for probe in file.probes:
            if (file.iteration, probe.number) not in known:
                fresh.setdefault(probe.number, probe)
        kept = list(fresh.values())[: MOST_PROBES - len(known)]
        known |= {(file.iteration, probe.number) for probe in kept}
        if fresh:
            ProbeBatch.objects.create(
                experiment_id=upload.experiment_id,
                upload=upload,
                iteration=file.iteration,
                count=len(kept),
                left_out=len(fresh) - len(kept),
                tests=file.tests,
                content=packed(kept),
            )
    left_out = stored.aggregate(probes=Sum("left_out"))["probes"] or 0
    Experiment.objects.filter(pk=upload.experiment_id).update(probes=len(known), probes_left_out=left_out)
