"""JUnit XML of a simulated report: one file as pytest writes it, or a file a class as Surefire does, with retries."""

from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from itertools import groupby

from analytics.simulation.causes import Words
from analytics.simulation.names import Style, TestName

File = tuple[str, bytes]
_SCHEMA = (
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation='
    '"https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report.xsd"'
)
_WORKERS = 2


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution; `words` is None where it passed."""

    seconds: float
    words: Words | None


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a report; `attempts` only where it failed at first."""

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


def _attributes(said: Words) -> str:
    kind = f' type="{escape(said.type)}"' if said.type else ""
    return f'message="{escape(said.message)}"{kind}'


def _counts(cases: list[Case]) -> str:
    ended = [case.attempts[-1].words for case in cases if case.attempts]
    errors = sum(said is not None and said.error for said in ended)
    failures = sum(said is not None and not said.error for said in ended)
    skipped = sum(case.skipped for case in cases)
    return f'errors="{errors}" failures="{failures}" skipped="{skipped}" tests="{len(cases)}"'


# -- pytest ------------------------------------------------------------------------------------------------------


def _pytest(cases: list[Case], started: datetime, host: str, serial: bool) -> bytes:
    spent = sum(case.seconds for case in cases)
    wall = spent * 1.01 + 0.4 if serial else spent / _WORKERS
    about = f'time="{wall:.3f}" timestamp="{started.isoformat()}" hostname="{escape(host)}"'
    head = f'<testsuites name="pytest tests"><testsuite name="pytest" {_counts(cases)} {about}>'
    inside = "".join(map(_pytest_case, cases))
    return f'<?xml version="1.0" encoding="utf-8"?>{head}{inside}</testsuite></testsuites>'.encode()


def _pytest_case(case: Case) -> str:
    head = f'<testcase classname="{case.classname}" name="{case.name}" time="{case.seconds:.3f}"'
    if case.skipped:
        return f'{head}><skipped type="pytest.skip" message="not on this system" /></testcase>'
    said = case.attempts[0].words if case.attempts else None
    if said is None:
        return f"{head} />"
    tag = "error" if said.error else "failure"
    return f"{head}><{tag} {_attributes(said)}>{escape(said.text, quote=False)}</{tag}></testcase>"


# -- Surefire ----------------------------------------------------------------------------------------------------


def _surefire(classname: str, cases: list[Case]) -> bytes:
    spent = sum(case.seconds for case in cases)
    head = f'<testsuite {_SCHEMA} name="{classname}" time="{spent:.3f}" {_counts(cases)}>'
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
    said = first.words
    assert said is not None
    tag = "error" if said.error else "failure"
    ended = f"<{tag} {_attributes(said)}>{escape(said.text, quote=False)}</{tag}>"
    return _surefire_element(case, first.seconds, ended + "".join(_rerun("rerun", attempt) for attempt in others))


def _surefire_element(case: Case, seconds: float, inside: str) -> str:
    head = f'  <testcase name="{case.name}" classname="{case.classname}" time="{seconds:.3f}"'
    return f"{head}>{inside}</testcase>\n" if inside else f"{head}/>\n"


def _rerun(prefix: str, attempt: Attempt) -> str:
    said = attempt.words
    assert said is not None
    tag = f"{prefix}{'Error' if said.error else 'Failure'}"
    text = f"<stackTrace>{escape(said.text, quote=False)}</stackTrace>"
    return f'<{tag} {_attributes(said)} time="{attempt.seconds:.3f}">{text}</{tag}>'
