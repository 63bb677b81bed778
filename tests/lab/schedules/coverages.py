"""Coverage of four tests, kept by the server."""

import gzip
import json

from django.test import Client

from tests.lab.schedules.suites import Names
from tests.lab.schedules.test_schedule_bodies import bits


def keep_coverage(
    token: str, names: Names, covered: dict[int, dict[str, tuple[int, ...]]], outside: tuple[int, ...] = ()
) -> int:
    """Coverage of two files: src.py with f (2-5) and g (7-9), and more.py."""
    files = {"src.py": "0", "more.py": "1"}
    header = {
        "revision": {"commit": "c" * 40, "branch": "main"},
        "files": list(files),
        "functions": [[["f", 2, 5], ["g", 7, 9]], [["h", 1, 3]]],
        "outside": {"0": bits(*outside)} if outside else {},
    }
    rows = [
        {"test": names[place], "maps": {files[path]: bits(*lines) for path, lines in maps.items()}}
        for place, maps in covered.items()
    ]
    body = gzip.compress("\n".join(map(json.dumps, [header, *rows])).encode(), mtime=0)
    headers = {"authorization": f"Bearer {token}"}
    answer = Client().post("/api/v1/projects/shop/coverages", body, "application/gzip", headers=headers)
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


COVERED = {
    0: {"src.py": (2, 3)},
    1: {"src.py": (2, 4, 5)},
    2: {"src.py": (7, 8), "more.py": (1,)},
    3: {"more.py": (1, 2, 3)},
}
