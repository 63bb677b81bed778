"""The reader under atheris, which looks for bytes that take new ways through it: `python -m tests.fuzz.reader 600`.

It begins with reports of real tools and with archives. Anything but a reading is a find: an exception, more memory
than a worker has for a small file, or a file that takes too long. The bytes of a find are kept beside the corpus."""

import argparse
import gzip
import io
import os
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ingest.junit"]):
    from ingest.junit.upload import read_upload

from tests.hostile.archives import Entry, tar_entry, tar_of, zip_of

TESTS = Path(__file__).resolve().parents[1]
MEMORY_MB = 1_000
SECONDS_A_FILE = 20
LARGEST = 65_536


def one_file(content: bytes) -> None:
    """Read what may be a report: each file gets an outcome, and what was read is whole."""
    reading = read_upload([("fuzzed", io.BytesIO(content))])
    assert reading.files, "a file vanished"
    assert all(file["error"] is None or file["error"]["code"] for file in reading.files)
    report = reading.report
    assert len(report.keys) == len(report.verdicts) == len(report.durations)


def seeds() -> list[bytes]:
    """Reports of real tools, and the smallest of them in each kind of archive."""
    written = [path.read_bytes() for path in sorted((TESTS / "data" / "producers").glob("*.xml"))]
    small = min(written, key=len)
    packed = [gzip.compress(small, mtime=0), zip_of(Entry(content=small), Entry(b"b.xml", small, method=8))]
    return [*(one for one in written if len(one) <= LARGEST), *packed, tar_of(tar_entry("a.xml", b"0", small))]


def sow(folder: Path) -> None:
    """Put the seeds there; what earlier runs found of use stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(seeds()):
        (folder / f"seed-{number:03}").write_bytes(content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=int)
    parser.add_argument("--folder", type=Path, default=TESTS.parent / "var" / "fuzz")
    parser.add_argument("--seed", type=int, default=0, help="0 for another one each time")
    asked = parser.parse_args()
    sow(asked.folder / "corpus")
    options = (
        f"-max_total_time={asked.seconds} -rss_limit_mb={MEMORY_MB} -timeout={SECONDS_A_FILE} "
        f"-max_len={LARGEST} -seed={asked.seed} -artifact_prefix={asked.folder}{os.sep} -print_final_stats=1"
    )
    atheris.Setup([sys.argv[0], *options.split(), str(asked.folder / "corpus")], one_file)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
