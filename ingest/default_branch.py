"""Which runs are of a project's default branch: those on it that are of no pull request.

A run that names neither branch nor pull request is taken for one of them. The rule is written here once for each that
asks: Python, the ORM and SQL."""

from django.db.models import Q

from ingest.models import Project

RUN_IS_DEFAULT = "(run.branch IN ('', %(default_branch)s) AND run.pull_request = '')"
"""In a query that calls `ingest_run` run and gets `default_branch` as a parameter."""


def is_default(project: Project, branch: str, pull_request: str) -> bool:
    """Whether a run of this branch and pull request is of the default branch."""
    return branch in ("", project.default_branch) and not pull_request


def default_runs(project: Project, run: str = "") -> Q:
    """The same of rows; `run` is the way from them to the run, such as "run__" for reports."""
    return Q(**{f"{run}branch__in": ("", project.default_branch), f"{run}pull_request": ""})
