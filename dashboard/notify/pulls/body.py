"""What the comment and the check of a pull request say, in Markdown. Whatever CI sent stands in it as code."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.urls import reverse
from django.utils.crypto import salted_hmac

from analytics.runs.failing_tests import Group
from dashboard.builds.answer import BuildAnswer
from dashboard.builds.failures import BuildFailure
from dashboard.builds.verdict import Verdict
from dashboard.notify.pulls.host import Annotation
from dashboard.notify.tickets.drafts import code
from ingest.models import Project

LISTED = 20
"""Failures that a comment names; the page has all."""
_LARGEST = 60_000
_HEADS = {Verdict.PASSED: "passed", Verdict.FAILED: "failed", Verdict.INCOMPLETE: "not all results are there"}
_GROUPS = {
    Group.NEW: "New: look here",
    Group.UNJUDGED: "Failing",
    Group.BROKEN: "Broken before",
    Group.FLAKY: "Known flaky",
    Group.INCIDENT: "The machines",
    Group.QUARANTINED: "Quarantined",
}


def marker_of(project: Project, number: str) -> str:
    """A word that nobody can guess, by which our comment is found again."""
    digest = salted_hmac("flakeboard pull", f"{project.pk}:{number}").hexdigest()
    return f"flakeboard-{digest[:24]}"


def title_of(answer: BuildAnswer) -> str:
    """The check in one line."""
    incomplete = answer.verdict is Verdict.INCOMPLETE and answer.reasons
    return answer.reasons[0] if incomplete else answer.sentence


def comment_of(
    project: Project,
    answer: BuildAnswer,
    failures: Sequence[BuildFailure],
    annotations: Mapping[int, Annotation],
    *,
    page: str,
    marker: str,
) -> str:
    lines = [
        f"### Flakeboard: {_HEADS[answer.verdict]}",
        "",
        f"{answer.sentence} [All jobs and failures]({page})",
        "",
        *(f"- {code(reason)}" for reason in answer.reasons),
    ]
    for group, title in _GROUPS.items():
        of_group = [failure for failure in failures if failure.group is group]
        if of_group:
            lines += ["", f"**{title}** ({answer.whole.counts[group]:,})", ""]
            lines += [_line(project, failure, annotations.get(failure.test.number)) for failure in of_group]
    more = len(answer.whole.failing) - len(failures)
    if more > 0:
        lines += ["", f"and {more:,} more."]
    jobs = len(answer.jobs)
    lines += ["", f"Commit {code(answer.build.newest.commit)}, {jobs:,} job{'' if jobs == 1 else 's'}.", ""]
    return "\n".join(lines)[:_LARGEST] + f"\n<!-- {marker} -->"


def _line(project: Project, failure: BuildFailure, annotation: Annotation | None) -> str:
    where = f" at {code(f'{annotation.path}:{annotation.line}')}" if annotation else ""
    address = settings.PUBLIC_URL + reverse("case", args=(project.slug, failure.run, failure.stored))
    known = [failure.whose, failure.touch, f"rerun it up to {failure.reruns} times" if _helps(failure) else ""]
    words = "; ".join(code(part) for part in known if part)
    name = " ".join(part for part in (failure.test.classname, failure.test.name) if part)
    return f"- {code(name)}{where}{f': {words}' if words else ''} ([what it said]({address}))"


def _helps(failure: BuildFailure) -> bool:
    return failure.group is Group.FLAKY and failure.reruns is not None
