"""Peak memory of a worker that processes one file of 500,000 cases."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.outcome import Outcome
from bench.sending import receive
from bench.suites import document
from ingest.services import project_create

CASES = 500_000
_SCRIPT = """
import resource, sys, django
django.setup()
from ingest.processing import upload_process
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert upload_process(upload_id=int(sys.argv[1]))
print(before // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def run() -> Iterator[Outcome]:
    project = project_create(slug="memory", name="Memory")
    upload = receive(project, [("report.xml", document(range(CASES)))], build_id="1")
    root = Path(__file__).resolve().parent.parent
    said = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(upload.pk)], cwd=root, capture_output=True, text=True, check=True
    )
    before, peak = map(int, said.stdout.split())
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    yield Outcome("peak memory for a file of 500,000 cases", peak, "MB", most=600)
    yield Outcome("  of that, before it began", before, "MB")
