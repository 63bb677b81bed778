"""Lines of the repository that tracebacks of failures name."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from dashboard.builds.failures import UNEXPLAINED, BuildFailure
from dashboard.notify.formats.message import LONG, TITLE, clean
from dashboard.notify.pulls.host import Annotation
from ingest.models import Failure, Project, ReachName, Test

_READ = 20_000
"""Characters of a traceback that are looked at, from its end: that is where it failed."""
_PLACE = re.compile(
    r'(?:File "([^"\n]{1,300})", line ([0-9]{1,7})\b)|(?:([\w@+./\\-]{1,300}\.[A-Za-z]{1,5}):([0-9]{1,7})\b)'
)
_STEPS = 8
"""So many of the last steps of a path are tried as a path in the repository."""
_FOREIGN = ("site-packages/", "node_modules/", "dist-packages/", "/lib/python")


def places_in(text: str) -> Iterator[tuple[str, int]]:
    """Files and lines that a traceback names, the innermost first."""
    found = [match.groups() for match in _PLACE.finditer(text[-_READ:])]
    for quoted, quoted_line, path, line in reversed(found):
        written = (quoted or path).replace("\\", "/")
        if not any(part in written for part in _FOREIGN):
            yield written, int(quoted_line or line)


def candidates_of(path: str) -> list[str]:
    """What a path on the runner's disk may be in the repository, the longest first."""
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if ".." in steps:
        return []
    first = max(len(steps) - _STEPS, 0)
    return ["/".join(steps[start:]) for start in range(first, len(steps))]


def annotations_of(
    project: Project, failures: Sequence[BuildFailure], changed: Collection[str]
) -> dict[int, Annotation]:
    """By test number, of failures whose traceback names a file that the repository is known to have: a test is in it,
    it was changed, or a test used it."""
    texts = _texts(failures)
    places = {number: list(places_in(text)) for number, text in texts.items()}
    named = {path for found in places.values() for path, _ in found}
    tried = {candidate for path in named for candidate in candidates_of(path)}
    known = _known(project, tried) | {path for path in tried if path in changed}
    found = {}
    for failure in failures:
        for path, line in places.get(failure.test.number, ()):
            file = next((candidate for candidate in candidates_of(path) if candidate in known), None)
            if file is not None and line:
                found[failure.test.number] = _annotation(failure, file, line)
                break
    return found


def _annotation(failure: BuildFailure, file: str, line: int) -> Annotation:
    message = " ".join(part for part in (failure.words, failure.whose or failure.sentence) if part)
    title = clean(f"{failure.test.name}: {failure.group.api_class}", TITLE)
    return Annotation(file, line, title, clean(message, LONG) or title, failure.group in UNEXPLAINED)


def _texts(failures: Sequence[BuildFailure]) -> Mapping[int, str]:
    """By test number: what each said where it is listed."""
    place_of = {(failure.report, failure.stored): failure.test.number for failure in failures}
    reports, stored = {report for report, _ in place_of}, {number for _, number in place_of}
    rows = Failure.objects.filter(report__in=reports, test__number__in=stored, part=0).order_by("ordinal")
    fields = ("report_id", "test__number", "text")
    return {
        place_of[(report, number)]: text
        for report, number, text in rows.values_list(*fields)
        if (report, number) in place_of
    }


def _known(project: Project, paths: Collection[str]) -> set[str]:
    if not paths:
        return set()
    of_tests = Test.objects.filter(project=project, file__in=paths).values_list("file", flat=True)
    used = ReachName.objects.filter(project=project, file__in=paths).values_list("file", flat=True)
    return {*of_tests, *used}
