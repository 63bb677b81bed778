"""Maven (Surefire) and Gradle: class and method select tests."""

from __future__ import annotations

import re
from typing import Sequence

from flakeboard.reports.case import Case
from flakeboard.runners.runner import Runner, RunnerCall

_METHOD = re.compile(r"[^\W\d][\w$]*")
_CLASS = re.compile(r"[\w$.]+\Z")


def _methods(cases: Sequence[Case]) -> dict[str, list[str]] | None:
    """Class -> methods, without the parameters that reports add; None if a name is not a method's."""
    methods: dict[str, list[str]] = {}
    for case in cases:
        found = _METHOD.match(case.name)
        if not found or not _CLASS.match(case.classname):
            return None
        rest = case.name[found.end() :]
        if rest and rest[0] not in "([{":
            return None  # a display name, which does not name the method
        names = methods.setdefault(case.classname, [])
        if found.group() not in names:
            names.append(found.group())
    return methods


def _select_maven(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    methods = _methods(cases)
    if methods is None:
        return None
    chosen = ",".join("{}#{}".format(name, "+".join(names)) for name, names in methods.items())
    kept = [word for word in call.arguments if not word.startswith("-Dtest=")]
    none_elsewhere = ["-Dsurefire.failIfNoSpecifiedTests=false", "-DfailIfNoTests=false"]
    return [*call.before, *kept, "-Dtest=" + chosen, *none_elsewhere]


def _select_gradle(call: RunnerCall, cases: Sequence[Case]) -> list[str] | None:
    """Append `--tests`, which belongs to the task before it."""
    methods = _methods(cases)
    if methods is None:
        return None
    chosen = [f"{name}.{method}" for name, names in methods.items() for method in names]
    kept, rest = [], list(call.arguments)
    while rest:
        word = rest.pop(0)
        if word == "--tests" and rest:
            rest.pop(0)
        elif not word.startswith("--tests=") and word != "--fail-fast":
            kept.append(word)
    return [*call.before, *kept, *[word for test in chosen for word in ("--tests", test)]]


MAVEN = Runner(
    "maven",
    ("mvn", "mvnw", "mvnd"),
    _select_maven,
    reports=("**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"),
)
GRADLE = Runner("gradle", ("gradle", "gradlew"), _select_gradle, reports=("**/build/test-results/**/TEST-*.xml",))
