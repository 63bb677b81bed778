"""JUnit XML of a simulated report: one file in pytest's style, or a file for each class in Surefire's, with retries."""

from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from itertools import groupby
from math import isnan

from analytics.simulation.causes import FailureText
from analytics.simulation.names import Style, TestName

File = tuple[str, bytes]
_SCHEMA = (
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation='
    '"https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report.xsd"'
)
_WORKERS = 2


@dataclass(frozen=True, slots=True)
class Attempt:
    """An execution; `words` is None if it passed."""

    seconds: float
    words: FailureText | None


@dataclass(frozen=True, slots=True)
class Case:
    """A test of a report; `attempts` only if its first attempt failed."""

    test: TestName
    seconds: float
    skipped: bool
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def classname(self) -> str:
        return self.test[1]

    @property
    def name(self) -> str:
        return self.test[2]


def write_files(style: Style, cases: list[Case], started: datetime, host: str, *, serial: bool) -> list[File]:
    """A report's files, cases in order of execution; unless it is `serial`, the time shows several workers."""
    if style is Style.PYTEST:
        return [("junit.xml", _pytest(cases, started, host, serial))]
    by_class = groupby(cases, key=lambda case: case.classname)
    return [(f"TEST-{classname}.xml", _surefire(classname, list(inside))) for classname, inside in by_class]


def _attributes(failure: FailureText) -> str:
    kind = f' type="{escape(failure.type)}"' if failure.type else ""
    return f'message="{escape(failure.message)}"{kind}'


def _counts(cases: list[Case]) -> str:
    ended = [case.attempts[-1].words for case in cases if case.attempts]
    errors = sum(failure is not None and failure.error for failure in ended)
    failures = sum(failure is not None and not failure.error for failure in ended)
    skipped = sum(case.skipped for case in cases)
    return f'errors="{errors}" failures="{failures}" skipped="{skipped}" tests="{len(cases)}"'


# -- pytest ------------------------------------------------------------------------------------------------------


def _pytest(cases: list[Case], started: datetime, host: str, serial: bool) -> bytes:
    spent = sum(case.seconds for case in cases)
    wall = spent * 1.01 + 0.4 if serial else spent / _WORKERS
    about = f'{_time(wall)}timestamp="{started.isoformat()}" hostname="{escape(host)}"'
    head = f'<testsuites name="pytest tests"><testsuite name="pytest" {_counts(cases)} {about}>'
    inside = "".join(map(_pytest_cases, cases))
    return f'<?xml version="1.0" encoding="utf-8"?>{head}{inside}</testsuite></testsuites>'.encode()


def _pytest_cases(case: Case) -> str:
    """An element, after one for each earlier attempt, which pytest-rerunfailures writes like a pass."""
    *earlier, last = case.attempts or [Attempt(case.seconds, None)]
    lost = "".join(f"{_pytest_head(case, attempt.seconds)} />" for attempt in earlier)
    head = _pytest_head(case, last.seconds)
    if case.skipped:
        return f'{head}><skipped type="pytest.skip" message="not on this system" /></testcase>'
    failure = last.words
    if failure is None:
        return f"{lost}{head} />"
    tag = "error" if failure.error else "failure"
    return f"{lost}{head}><{tag} {_attributes(failure)}>{escape(failure.text, quote=False)}</{tag}></testcase>"


def _pytest_head(case: Case, seconds: float) -> str:
    return f'<testcase classname="{case.classname}" name="{case.name}" {_time(seconds)}'.rstrip()


def _time(seconds: float) -> str:
    """The attribute, or nothing if reports have no durations."""
    return "" if isnan(seconds) else f'time="{seconds:.3f}" '


# -- Surefire ----------------------------------------------------------------------------------------------------


def _surefire(classname: str, cases: list[Case]) -> bytes:
    spent = sum(case.seconds for case in cases)
    head = f'<testsuite {_SCHEMA} name="{classname}" {_time(spent)}{_counts(cases)}>'
    inside = "".join(map(_surefire_case, cases))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n{inside}</testsuite>\n'.encode()


def _surefire_case(case: Case) -> str:
    """A passing last attempt makes the earlier ones flaky; else the first is the failure and the others its reruns."""
    if not case.attempts:
        return _surefire_element(case, case.seconds, "<skipped/>" if case.skipped else "")
    first, *others = case.attempts
    if case.attempts[-1].words is None:
        flaky = "".join(_rerun("flaky", attempt) for attempt in case.attempts[:-1])
        return _surefire_element(case, case.attempts[-1].seconds, flaky)
    failure = first.words
    assert failure is not None
    tag = "error" if failure.error else "failure"
    ended = f"<{tag} {_attributes(failure)}>{escape(failure.text, quote=False)}</{tag}>"
    return _surefire_element(case, first.seconds, ended + "".join(_rerun("rerun", attempt) for attempt in others))


def _surefire_element(case: Case, seconds: float, inside: str) -> str:
    head = f'  <testcase name="{case.name}" classname="{case.classname}" {_time(seconds)}'.rstrip()
    return f"{head}>{inside}</testcase>\n" if inside else f"{head}/>\n"


def _rerun(prefix: str, attempt: Attempt) -> str:
    failure = attempt.words
    assert failure is not None
    tag = f"{prefix}{'Error' if failure.error else 'Failure'}"
    text = f"<stackTrace>{escape(failure.text, quote=False)}</stackTrace>"
    return f"<{tag} {f'{_attributes(failure)} {_time(attempt.seconds)}'.rstrip()}>{text}</{tag}>"
