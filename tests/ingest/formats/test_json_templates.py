"""Tests of a JSON report that are written alike are read exactly as one by one."""

from unittest.mock import patch

import pytest

from ingest.formats import json_text
from ingest.formats.ctrf import Ctrf
from ingest.formats.json_templates import Alike
from ingest.formats.json_text import Cursor
from ingest.formats.playwright import Playwright
from ingest.junit.limits import Limits
from tests.ingest.formats.documents import JSON
from tests.ingest.formats.test_lane import outcome
from tests.ingest.junit.reading import read
from tests.redteam.writers import WRITERS, Result

CASES = 30
ODD = [
    ("ctrf", '"passed"', '"failed"'),
    ("ctrf", '"duration": 5', '"duration": 5, "line": 7, "filePath": "a.js"'),
    ("ctrf", '"duration": 5', '"duration": 1e3'),
    ("ctrf", '"duration": 5', '"duration": [5]'),
    ("ctrf", '"duration": 5', '"duration": null'),
    ("ctrf", '"duration": 5', '"duration": 5, "line": "x"'),
    ("ctrf", '"duration": 5', '"duration": 5, "filepath": "a.js"'),
    ("ctrf", '"duration": 5', '"duration": 5, "suite": "shop"'),
    ("ctrf", '"duration": 5', '"duration": 5, "suite": ["shop", "cart"]'),
    ("ctrf", '"duration": 5', '"duration": 5, "suite": [["shop"]]'),
    ("ctrf", '"duration": 5', '"duration": 5, "flaky": true, "retries": 1'),
    ("ctrf", '"duration": 5', '"duration": 5, "retryAttempts": [{"status": "failed"}]'),
    ("ctrf", '"duration": 5', '"duration": 5, "name": "twice"'),
    ("ctrf", '{"name": "test_', '{"name": "test\\n_'),
    ("ctrf", '{"name": ', '{"name": ["x"], "title": '),
    ("playwright", '"expected"', '"unexpected"'),
    ("playwright", '"expectedStatus": "passed"', '"expectedStatus": "failed"'),
    ("playwright", '"ok": true', '"ok": false'),
    ("playwright", '"ok": true', '"ok": true, "line": 7'),
    ("playwright", '"ok": true', '"ok": true, "line": [7], "tags": ["a", "b"]'),
    ("playwright", '"duration": 5', '"duration": "5"'),
    ("playwright", '"duration": 5', '"duration": true'),
    ("playwright", '"duration": 5', '"steps": [{"title": "s", "duration": 5}]'),
    ("playwright", '"retry": 0}', '"retry": 0}, {"status": "passed", "duration": 5, "retry": 1}'),
    ("playwright", '"retry": 0}]}', '"retry": 0}]}, {"status": "skipped", "results": []}'),
    ("playwright", '{"title": ', '{"title": ["x"], "id": '),
    ("playwright", '"file": "cart.spec.ts", "tests"', '"tests"'),
    ("playwright", '"projectName": "chromium"', '"projectId": "chromium"'),
]


def written(name: str) -> str:
    return WRITERS[name]([Result(f"test_{number}") for number in range(CASES)]).decode()


def both(text: str, limits: Limits | None = None) -> tuple[object, object]:
    """What is read with templates, and one by one."""

    def reading(data: bytes) -> object:
        return read(data, limits)

    data = text.encode()
    with patch.object(json_text, "_WORTH", 0):
        together = outcome(reading, data)
    with patch.object(Alike, "learn"):
        return together, outcome(reading, data)


@pytest.mark.parametrize(("name", "old", "new"), ODD)
@pytest.mark.parametrize("start", [0, 7])
def test_odd_tests_are_read_as_one_by_one(name: str, old: str, new: str, start: int) -> None:
    """All of them are odd alike, or those behind some plain ones."""
    text = written(name)
    at = text.index(f'"test_{start}"') - 10
    changed = text[:at] + text[at:].replace(old, new)
    assert changed != text
    together, apart = both(changed)
    assert together == apart


def test_tests_of_another_list_of_suites_keep_it() -> None:
    text = written("ctrf").replace('"duration"', '"suite": ["shop", "cart"], "duration"')
    at = text.index('"test_9"')
    together, apart = both(text[:at] + text[at:].replace('"cart"', '"till"'))
    assert together == apart


def test_tests_of_other_projects_keep_theirs() -> None:
    text = written("playwright")
    at = text.index('"test_9"')
    together, apart = both(text[:at] + text[at:].replace("chromium", "firefox"))
    assert together == apart


@pytest.mark.parametrize("limits", [Limits(depth=8), Limits(text_kept=20), Limits(markup=300), Limits(cases=20)])
@pytest.mark.parametrize("name", JSON)
def test_limits_hold(name: str, limits: Limits) -> None:
    together, apart = both(written(name), limits)
    assert together == apart


def test_a_long_name_is_cut_as_ever() -> None:
    together, apart = both(written("ctrf").replace("test_9", "x" * 300), Limits(text_kept=100))
    assert together == apart


def test_tests_that_are_too_deep_are_refused_though_written_alike() -> None:
    spec = '{{"title": "t{}", "ok": true, "tests": [{{"status": "expected", "results": [{{"status": "passed"}}]}}]}}'
    specs = ", ".join(spec.format(number) for number in range(6))
    inner = f'{{"title": "b", "specs": [{{"title": "flat", "ok": true}}, {specs}]}}'
    suites = f'{{"title": "a", "specs": [{specs}], "suites": [{inner}]}}'
    together, apart = both(f'{{"suites": [{suites}], "errors": [], "stats": {{}}}}', Limits(depth=9))
    assert together == apart


@pytest.mark.parametrize(("name", "reader"), [("ctrf", Ctrf), ("playwright", Playwright)])
def test_most_tests_are_read_together(name: str, reader: type[Ctrf | Playwright]) -> None:
    text = WRITERS[name]([Result(f"test_{number}", number % 50 == 7) for number in range(500)])
    with patch.object(Cursor, "value", autospec=True, side_effect=Cursor.value) as value:
        report = read(text)
    assert report.producer == reader.dialect.producer
    assert len(report.keys) == 500
    assert value.call_count < 50
