"""Coverage as it is sent: gzip of lines of JSON, the first about the revision and its files, then one a test."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
from typing import Any, Mapping

from flakeboard.node_names import file_of, names_of
from flakeboard.problems import Problem
from flakeboard.schedules.coverage_file import CoverageMaps
from flakeboard.schedules.source_lines import SourceLines

LARGEST = 50_000_000


def body_of(maps: CoverageMaps, revision: Mapping[str, str], top: str) -> bytes:
    files = maps.files
    number = {path: place for place, path in enumerate(files)}
    header = {
        "revision": dict(revision),
        "tests": len(maps.tests),
        "files": files,
        "functions": [functions_of(os.path.join(top, path)) for path in files],
        "outside": _written(maps.outside, number),
    }
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
        stream.write(_line(header))
        for node_id in sorted(maps.tests):
            test = [*names_of(node_id), file_of(node_id)]
            stream.write(_line({"test": test, "maps": _written(maps.tests[node_id], number)}))
    body = packed.getvalue()
    if len(body) > LARGEST:
        raise Problem(f"the coverage is too large: {len(body):,} bytes of {LARGEST:,}. Measure fewer sources.")
    return body


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _written(maps: Mapping[str, int], number: Mapping[str, int]) -> dict[str, str]:
    return {str(number[path]): _packed(lines) for path, lines in sorted(maps.items())}


def _packed(lines: int) -> str:
    return base64.b64encode(lines.to_bytes((lines.bit_length() + 7) // 8, "little")).decode("ascii")


def functions_of(path: str) -> list[list[Any]]:
    """Name, first and last line of each function's body; nothing of what cannot be read."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = SourceLines(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    return [[function.name, *function.body] for function in lines.functions]
