"""What is quarantined now, written as a test runner takes it."""

from collections.abc import Mapping, Sequence

from dashboard.quarantine.exports import Exported, export
from dashboard.quarantine.selectors import active_tests
from ingest.identity import TEST_NAME_FIELDS, TestName
from ingest.models import Project, Test

USES: Mapping[str, str] = {
    "json": "",
    "text": "",
    "pytest": "pytest @quarantine.txt",
    "jest": 'jest --testNamePattern "$(cat quarantine.txt)"',
    "vitest": 'vitest run -t "$(cat quarantine.txt)"',
    "playwright": 'playwright test --grep-invert "$(cat quarantine.txt)"',
    "junit5": 'mvn test "-Dtest=$(cat quarantine.txt)"',
    "go": 'go test -skip "$(cat quarantine.txt)" ./...',
    "rspec": 'rspec --example-matches "$(cat quarantine.txt)"',
}
"""Format -> the command that takes the file."""


def active_export(
    project: Project,
    kind: str,
    *,
    branch: str = "",
    pull_request: str = "",
    environment: Mapping[str, str] | None = None,
) -> Exported:
    """For a branch, a pull request or an environment where one is named."""
    tests = active_tests(project.pk, branch=branch, pull_request=pull_request, environment=environment)
    return export(kind, [test.test_name for test in tests], _others(project, tests))


def _others(project: Project, tests: Sequence[Test]) -> list[TestName]:
    """The project's other tests, which no pattern may hit."""
    if not tests:
        return []
    rows = Test.in_ci.filter(project=project, alias_of=None).exclude(pk__in=[test.pk for test in tests])
    return [TestName(*row) for row in rows.values_list(*TEST_NAME_FIELDS)]


def content_type(kind: str) -> str:
    return "application/json" if kind == "json" else "text/plain; charset=utf-8"
