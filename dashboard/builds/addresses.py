"""The pages of builds and pull requests."""

from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from ingest.builds import BuildKey
from ingest.models import Run


def build_path(slug: str, run: Run) -> str:
    """The page of the build that a run belongs to; empty where a run names neither build nor commit."""
    key = BuildKey.of_run(run)
    if key is None:
        return ""
    if key.build_id:
        return reverse("build", args=(slug, key.build_id))
    return f"{reverse('commit', args=(slug, key.commit))}?{urlencode({'branch': key.branch})}"


def pull_address(slug: str, number: str) -> str:
    """The whole address, for who reads it elsewhere."""
    return settings.PUBLIC_URL + reverse("pull", args=(slug, number))


def build_address(slug: str, run: Run) -> str:
    path = build_path(slug, run)
    return settings.PUBLIC_URL + path if path else ""
