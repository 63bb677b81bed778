"""Which runs are of one kind: the branch, the pull request and an image's tag tell builds apart, not jobs."""

import pytest

from ingest.run_kind import kind_of

MAIN = {"job": "app/main", "shard": "", "environment": {"os": "linux"}, "branch": "main"}


@pytest.mark.parametrize(
    "other",
    [
        {"job": "app/PR-7", "branch": "fix"},
        {"job": "app/feature%2Fcart", "branch": "feature/cart"},
        {"job": "app/feature/cart", "branch": "feature/cart"},
        {"job": "app"},
        {"job": "app/MR-12", "branch": ""},
    ],
)
def test_branch_and_pull_request_are_no_part_of_a_job(other: dict[str, str]) -> None:
    assert kind_of(**{**MAIN, **other}) == kind_of(**MAIN)


@pytest.mark.parametrize(
    "other",
    [
        {"job": "web/main"},
        {"shard": "1/2"},
        {"environment": {"os": "windows"}},
        {"environment": {}},
        {"environment": {"os": "linux", "python": "3.12"}},
        {"job": "app/PRs"},
        {"job": "app/mainline"},
    ],
)
def test_another_job_shard_or_environment_is_another_kind(other: dict[str, object]) -> None:
    assert kind_of(**{**MAIN, **other}) != kind_of(**MAIN)


@pytest.mark.parametrize(
    ("image", "alike"),
    [
        ("registry.example:5000/team/app:3f2a91c", "registry.example:5000/team/app:77be01d"),
        ("registry.example:5000/team/app", "registry.example:5000/team/app:latest"),
        ("app@sha256:aa", "app@sha256:bb"),
        ("app:1@sha256:aa", "app:2"),
    ],
)
def test_an_images_tag_is_no_part_of_the_environment(image: str, alike: str) -> None:
    def kind(value: str) -> bytes:
        return kind_of(job="test", shard="", environment={"image": value})

    assert kind(image) == kind(alike)
    assert kind(image) != kind("registry.example:5000/team/other")


def test_a_value_that_names_the_commit_is_the_same_at_each_commit() -> None:
    kinds = {
        kind_of(job="t", shard="", environment={"build": f"app-{commit}"}, commit=commit)
        for commit in ("a" * 40, "b" * 40)
    }
    assert len(kinds) == 1
    assert kind_of(job="t", shard="", environment={"build": "app-x"}, commit="a" * 40) not in kinds
