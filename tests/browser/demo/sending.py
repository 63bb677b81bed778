"""Runs that are sent to the simulated project, as CI would: all its tests, some of them failing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ingest.metadata import RunMetadata
from ingest.models import Failure, Run, Test
from ingest.processing import upload_process
from ingest.services import upload_receive
from tests.conftest import body_of
from tests.web.analysed_project import HOSTILE, Demo
from tests.web.test_pages import escaped

SHOUTED = "\u202egreat\u202c <script>document.title = 'taken'</script> <img src=x onerror=alert(1)> \"it's\" 🎉 & so on"
"""What a hostile failure says, between colours."""
COLOURED = f"#x1B[1m#x1B[31m{SHOUTED}#x1B[0m plain again #x1B[2K" + "y" * 3_000
"""As pytest writes a terminal's colours into XML."""
_AFTER = datetime(2026, 1, 20, 3, tzinfo=UTC)
"""The simulated history ends before it."""
Words = tuple[str, str]
"""Message and text of a failure."""


@dataclass(frozen=True)
class Sent:
    run: Run
    new: tuple[str, str]
    """Tests that never failed before."""
    flaky: str
    """A flaky test that failed with the words that it always has."""


def send_shouting_run(demo: Demo) -> Run:
    """Of the default branch: some tests with hostile names fail with hostile words."""
    fails = dict.fromkeys(HOSTILE[:2], (COLOURED, COLOURED))
    return _send(demo, fails, 0, branch="main", build_id="hostile")


def send_red_pull_request(demo: Demo) -> Sent:
    stable = demo.api.read("tests?state=stable&sort=number&page_size=100")["results"]
    new = [row["name"] for row in stable if row["failed"] == 0][:2]
    flaky, words = _known(demo)
    fails = dict.fromkeys((*new, *HOSTILE), (COLOURED, COLOURED)) | {flaky: words}
    run = _send(demo, fails, 20, branch="cheaper-cart", pull_request="77", build_id="red")
    return Sent(run, (new[0], new[1]), flaky)


def _known(demo: Demo) -> tuple[str, Words]:
    """The flaky test of a usual name that fails most, and what one of its failures said."""
    rows = demo.api.read("tests?state=flaky&sort=-failed&page_size=100")["results"]
    name = next(row["name"] for row in rows if row["name"] not in HOSTILE)
    failure = Failure.objects.filter(test__project=demo.project, test__name=name).exclude(message="").first()
    assert failure is not None
    return name, (failure.message, failure.text)


def _send(demo: Demo, fails: Mapping[str, Words], minute: int, **facts: str) -> Run:
    content = "".join(_case(test, fails.get(test.name)) for test in Test.objects.filter(project=demo.project))
    report = f"<testsuites><testsuite name='pytest'>{content}</testsuite></testsuites>".encode()
    metadata = RunMetadata(
        commit=f"{minute:02}" * 20,
        started_at=_AFTER.replace(minute=minute),
        job="unit tests",
        environment={"os": "linux"},
        host="linux-0",
        **facts,
    )
    upload, _ = upload_receive(
        project=demo.project, body=body_of(("junit.xml", report)), metadata=metadata, stated_at=metadata.started_at
    )
    upload_process(upload_id=upload.pk)
    upload.refresh_from_db()
    assert upload.run is not None
    return upload.run


def _case(test: Test, words: Words | None) -> str:
    said = f"<failure message={_quoted(words[0])}>{escaped(words[1])}</failure>" if words else ""
    return f"<testcase classname={_quoted(test.classname)} name={_quoted(test.name)} time='0.2'>{said}</testcase>"


def _quoted(text: str) -> str:
    return f'"{escaped(text)}"'
