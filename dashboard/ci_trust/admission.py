"""Results of forks: marked when they come, outside of all that counts, and admitted by a person, run by run."""

from dataclasses import replace

from django.db import transaction

from analytics.refreshing import refresh_ask
from dashboard.ci_trust.models import ForkSettings, TrustedRepository
from dashboard.ci_trust.repositories import fork_mode
from dashboard.people.audit import audit
from ingest.lab.values import fork_values_admit
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Run, Upload


class ForkRefused(Exception):
    """Results of a fork that are not taken: code and sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        self.code, self.sentence = code, sentence
        super().__init__(code)


def claimed(metadata: RunMetadata, key: object) -> RunMetadata:
    """What is told of a run: what an ID token claims wins over what its sender says."""
    if not isinstance(key, TrustedRepository):
        return metadata
    missing = {name: value for name, value in key.job.otherwise.items() if not getattr(metadata, name)}
    return replace(metadata, **{**missing, **key.job.values}, fork=metadata.fork or key.job.fork)


def kept_apart(project: Project, metadata: RunMetadata) -> bool:
    """Whether this run's results are kept apart. Raises ForkRefused where the project does not take them."""
    if not metadata.fork:
        return False
    mode = fork_mode(project.pk)
    if mode == ForkSettings.Mode.OFF:
        sentence = "The project takes no results of forks. Its administrators can change that on the set-up page."
        raise ForkRefused("forks_off", sentence)
    if not metadata.pull_request:
        sentence = "Results of a fork belong to a pull request: say its number as pull_request."
        raise ForkRefused("fork_without_pull_request", sentence)
    return mode == ForkSettings.Mode.APART


@transaction.atomic
def run_admit(*, run: Run) -> bool:
    """Let a run's results count from now on (later uploads stay apart); return False if they count already."""
    held = Run.objects.select_for_update(no_key=True).select_related("project").get(pk=run.pk)
    if not held.untrusted:
        return False
    reports = Report.objects.filter(run=held, untrusted=True).update(untrusted=False)
    Upload.objects.filter(run=held, untrusted=True).update(untrusted=False)
    Run.objects.filter(pk=held.pk).update(untrusted=False)
    fork_values_admit(run=held)
    values = {"pull_request": held.pull_request, "commit": held.commit, "reports": reports}
    audit("run.admitted", project=held.project, target=f"run {held.pk}", after=values)
    refresh_ask(project_id=held.project_id)
    return True
