"""Peak memory of a worker that processes one file of 500,000 cases."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.outcome import Outcome
from bench.suites import document
from bench.uploads import receive
from ingest.services import project_create

CASES = 500_000
_SCRIPT = """
import sys, django
django.setup()
from ingest.processing import upload_process

def peak():  # not ru_maxrss: that one starts at what the parent had
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

before = peak()
assert upload_process(upload_id=int(sys.argv[1]))
print(before, peak())
"""


def run() -> Iterator[Outcome]:
    project = project_create(slug="memory", name="Memory")
    upload = receive(project, [("report.xml", document(range(CASES)))], build_id="1")
    root = Path(__file__).resolve().parent.parent
    child = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(upload.pk)], cwd=root, capture_output=True, text=True, check=True
    )
    before, peak = map(int, child.stdout.split())
    yield Outcome("peak memory for a file of 500,000 cases", peak, "MB", most=600)
    yield Outcome("  of that, before it began", before, "MB")
