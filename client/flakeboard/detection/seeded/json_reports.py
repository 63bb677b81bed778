"""Reports that runners write as one JSON document."""

from __future__ import annotations

import json
from typing import Any

from flakeboard.detection.seeded.runs import last_words
from flakeboard.problems import Problem


def read_report(path: str, output: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            report_body = json.load(file)
    except (OSError, ValueError):
        report_body = None
    if not isinstance(report_body, dict):
        raise Problem(f"the runner wrote no report: {last_words(output)}")
    return report_body
