"""Experiments for tests: files as the client writes them, sent the way that the client sends them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ingest.lab.services import experiment_begin
from ingest.metadata import RunMetadata
from ingest.models import Experiment, Project, Upload
from ingest.processing import upload_process
from ingest.services import upload_receive
from tests.conftest import body_of

STARTED = datetime(2026, 3, 1, 12, tzinfo=UTC)


def junit(order: Sequence[str], failed: Iterable[str] = (), *, at: datetime = STARTED, **properties: object) -> bytes:
    """A file as our pytest plugin writes it: cases in order of execution. Tests are node ids."""
    failing = set(failed)
    written = {"flakeboard.order": "executed", **{f"flakeboard.{name}": value for name, value in properties.items()}}
    told = "".join(f'<property name="{name}" value="{value}"/>' for name, value in written.items())
    cases = "".join(_case(test, test in failing) for test in order)
    return (
        f'<testsuites><testsuite name="pytest" tests="{len(order)}" time="{0.01 * len(order):.3f}" '
        f'timestamp="{at.isoformat()}"><properties>{told}</properties>{cases}</testsuite></testsuites>'
    ).encode()


def _case(test: str, fails: bool) -> str:
    file, *classes, name = test.split("::")
    classname = ".".join([file.removesuffix(".py").replace("/", "."), *classes])
    failure = '<failure message="AssertionError: no" type="AssertionError">assert 1 == 2</failure>' if fails else ""
    return f'<testcase classname="{classname}" name="{name}" file="{file}" time="0.01">{failure}</testcase>'


def probes(key: str, tests: Sequence[str], lines: Iterable[Mapping[str, Any]], **head: Any) -> tuple[str, bytes]:
    written = [{"experiment": key, "tests": list(tests), **head}, *lines]
    return "probes.jsonl", "\n".join(map(json.dumps, written)).encode()


def begin(project: Project, key: str = "e1", **values: Any) -> Experiment:
    known = {"protocol": "orders", "parameters": {"command": ["pytest"]}, "revision": {"commit": "a" * 40}}
    return experiment_begin(project=project, key=key, **{**known, **values})[0]


def send_orders(experiment: Experiment, *files: bytes | tuple[str, bytes], at: datetime | None = None) -> Upload:
    """Receive and process files as an upload of the experiment; with a moment, as one of the past."""
    metadata = RunMetadata(commit=experiment.commit, experiment=experiment.key).of_experiment()
    upload, _ = upload_receive(
        project=experiment.project, body=body_of(*files), metadata=metadata, experiment=experiment, stated_at=at
    )
    upload_process(upload_id=upload.pk)
    upload.refresh_from_db()
    return upload


def order_file(
    experiment: Experiment, round: int, order: Sequence[str], failed: Iterable[str] = (), **properties: object
) -> bytes:
    """The file of one whole order."""
    how = properties.pop("how", "original-order" if round < 1 else "random-class-method")
    at = STARTED + timedelta(minutes=round)
    return junit(order, failed, at=at, experiment=experiment.key, round=round, how=how, **properties)
