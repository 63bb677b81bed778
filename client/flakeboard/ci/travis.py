"""Travis CI. A pull request is built as a merge; the versions of the matrix are in variables."""

from __future__ import annotations

from typing import Mapping

from flakeboard.ci.facts import Facts, first, variants

_MATRIX = {
    "os": "TRAVIS_OS_NAME",
    "arch": "TRAVIS_CPU_ARCH",
    "dist": "TRAVIS_DIST",
    "python": "TRAVIS_PYTHON_VERSION",
    "node": "TRAVIS_NODE_VERSION",
    "ruby": "TRAVIS_RUBY_VERSION",
    "go": "TRAVIS_GO_VERSION",
    "jdk": "TRAVIS_JDK_VERSION",
    "php": "TRAVIS_PHP_VERSION",
}


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("TRAVIS") == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    pull_request, built = get("TRAVIS_PULL_REQUEST", ""), get("TRAVIS_COMMIT", "")
    head = get("TRAVIS_PULL_REQUEST_SHA", "")
    return Facts(
        system="Travis CI",
        commit=first(head, built),
        merged_commit=built if head and head != built else "",
        branch=first(get("TRAVIS_PULL_REQUEST_BRANCH"), get("TRAVIS_BRANCH")),
        pull_request="" if pull_request == "false" else pull_request,
        build_id=get("TRAVIS_BUILD_ID", ""),
        build_url=first(get("TRAVIS_JOB_WEB_URL"), get("TRAVIS_BUILD_WEB_URL")),
        job=first(get("TRAVIS_JOB_NAME"), get("TRAVIS_JOB_NUMBER", "").rpartition(".")[2]),
        environment=variants(environ, _MATRIX),
    )
