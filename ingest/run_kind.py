"""The kind of a run: runs of one kind can be compared. Pure.

A job is the same job on every branch and in every build of its image: Jenkins names a branch or pull request in the
job's path, GitLab an image with a tag of its own for each commit."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from ingest.identity import digest_of

_PULL_REQUEST = re.compile(r"(?:PR|MR|pull|merge)[-_ #]?[0-9]{1,9}", re.IGNORECASE)
_IMAGE = re.compile(r"image|container", re.IGNORECASE)


def kind_of(*, job: str, shard: str, environment: Mapping[str, str], branch: str = "", commit: str = "") -> bytes:
    """A digest that is equal for runs of one job, shard and environment."""
    variants = sorted(f"{name}={_value(name, value, commit)}" for name, value in environment.items())
    return digest_of("kind", "/".join(_job_parts(job, branch)), shard, *variants)


def _job_parts(job: str, branch: str) -> Iterator[str]:
    """The steps of a job's path that name neither the branch nor a pull request."""
    written = {branch, quote(branch, safe="")} if branch else set()
    if branch and "/" in branch:
        job = f"/{job}/".replace(f"/{branch}/", "/").strip("/")
    for part in job.split("/"):
        if part not in written and not _PULL_REQUEST.fullmatch(part):
            yield part


def _value(name: str, value: str, commit: str) -> str:
    """The value without parts that change with every commit: an image's tag and digest, and the commit itself."""
    if _IMAGE.search(name):
        value = value.partition("@")[0]
        repository, colon, tag = value.rpartition(":")
        value = repository if colon and "/" not in tag else value
    return value.replace(commit, "") if len(commit) >= 7 else value
