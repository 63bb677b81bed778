"""`flakeboard bounds` in parts: lines to change, groups of processes, and runs of a real test with varied seeds."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from flakeboard.bounds.answer import as_json, lines, monthly
from flakeboard.bounds.laboratory import Laboratory
from flakeboard.bounds.measurement import Findings
from flakeboard.bounds.patches import patch_of, patch_of_all, written
from flakeboard.bounds.series import Measurement, SiteSeries, series_of
from flakeboard.bounds.variance import clopper_pearson, p_value_of_groups
from flakeboard.commands import bounds as command
from flakeboard.problems import Problem
from flakeboard.values.sites import LOWER, MOST_COMPARISONS, MOST_SITES, UPPER, RunValues, Site, Value
from flakeboard.values.sources import Sources

# -- the line to change --------------------------------------------------------------------------------------------


def patched(folder: Path, source: str, kind: str, bound: float, proposed: float, line: int = 1) -> str | None:
    """The line as the patch has it."""
    (folder / "t.py").write_text(source + "\n", encoding="utf-8")
    conclusion = {"kind": kind, "bound": bound, "proposal": {"bound": proposed}}
    diff = patch_of(str(folder), {"file": "t.py", "line": line, "ordinal": 0, "conclusion": conclusion})
    if diff is None:
        return None
    assert diff.startswith("--- a/t.py\n+++ b/t.py\n")
    return next(text[1:] for text in diff.splitlines() if text.startswith("+") and not text.startswith("+++"))


@pytest.mark.parametrize(
    ("source", "kind", "bound", "proposed", "wanted"),
    [
        ("assert x < 0.1", "upper", 0.1, 0.17, "assert x < 0.17"),
        ("assert x >= -3, 'ü'", "lower", -3.0, -4.8, "assert x >= -4.8, 'ü'"),
        ("assert 'ü' and x < 0.1  # 0.1", "upper", 0.1, 0.17, "assert 'ü' and x < 0.17  # 0.1"),
        ("assert 0.1 > x", "upper", 0.1, 2.0, "assert 2.0 > x"),
        ("assert 0.1 < x < 0.9", "upper", 0.9, 1.5, "assert 0.1 < x < 1.5"),
        ("assert x < LIMIT", "upper", 0.1, 0.17, None),
        ("assert x < 0.1 and y < 0.1", "upper", 0.1, 0.17, None),
        ("self.assertLess(x, 1)", "upper", 1.0, 3.0, "self.assertLess(x, 3.0)"),
        ("assert x == approx(1, rel=1e-3, abs=0.5)", "share", 1.0, 2.1, "assert x == approx(1, rel=0.0021, abs=1.1)"),
        ("assert x == approx(1)", "share", 1.0, 2.1, None),
        (
            "np.testing.assert_allclose(a, b, rtol=0, atol=1e-5)",
            "share",
            1.0,
            3.0,
            "np.testing.assert_allclose(a, b, rtol=0, atol=3e-05)",
        ),
        ("np.testing.assert_almost_equal(a, b, 5)", "share", 1.0, 30.0, "np.testing.assert_almost_equal(a, b, 3)"),
        ("self.assertAlmostEqual(a, b, places=3)", "share", 1.0, 2.0, "self.assertAlmostEqual(a, b, places=2)"),
        ("assert np.allclose(a, b, atol=tolerance)", "share", 1.0, 2.0, None),
    ],
)
def test_patch_replaces_exactly_the_literals(
    tmp_path: Path, source: str, kind: str, bound: float, proposed: float, wanted: str | None
) -> None:
    assert patched(tmp_path, source, kind, bound, proposed) == wanted


def test_changes_of_neighbouring_lines_are_one_diff(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def test_it():\n    assert x < 0.1\n    assert y < 0.2\n\n\n    assert z < 0.3\n")
    (tmp_path / "u.py").write_text("assert 0.1 < x < 0.9\n")
    wanted = {("t.py", 2): (0.1, 1.5), ("t.py", 3): (0.2, 2.5), ("u.py", 1): (0.9, 0.95)}
    sites = [
        {"file": file, "line": line, "conclusion": {"kind": "upper", "bound": old, "proposal": {"bound": new}}}
        for (file, line), (old, new) in wanted.items()
    ]
    again = {"file": "u.py", "line": 1, "conclusion": {"kind": "lower", "bound": 0.1, "proposal": {"bound": 0.05}}}
    diff = patch_of_all(str(tmp_path), [*sites, again])
    (tmp_path / "all.patch").write_text(diff)
    environ = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    subprocess.run(["git", "apply", "all.patch"], cwd=tmp_path, env=environ, check=True)
    assert (tmp_path / "t.py").read_text() == (
        "def test_it():\n    assert x < 1.5\n    assert y < 2.5\n\n\n    assert z < 0.3\n"
    )
    assert (tmp_path / "u.py").read_text() == "assert 0.05 < x < 0.95\n"
    assert patch_of_all(str(tmp_path), []) == ""


def test_file_that_cannot_be_read_has_no_patch(tmp_path: Path) -> None:
    assert patched(tmp_path, "assert x <", "upper", 0.1, 0.2) is None
    conclusion = {"kind": "upper", "bound": 1.0, "proposal": {"bound": 2.0}}
    assert patch_of(str(tmp_path), {"file": "none.py", "line": 1, "conclusion": conclusion}) is None


@pytest.mark.parametrize(("value", "text"), [(2.0, "2.0"), (0.17, "0.17"), (3e-05, "3e-05"), (-12.0, "-12.0")])
def test_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert written(value) == text


# -- values ----------------------------------------------------------------------------------------------------------


def test_worst_value_of_a_run_counts() -> None:
    run, site, other = RunValues(), Site("a.py", 1, 0), Site("a.py", 2, 0)
    for value in (1.0, 3.0, 2.0):
        run.add(site, Value(UPPER, "<", 5.0, value))
        run.add(other, Value(LOWER, ">", 0.0, value))
    assert (run.sites[site].value, run.sites[other].value) == (3.0, 1.0)
    run.add(site, Value(UPPER, "<", 5.0, float("nan")))
    run.add(site, Value(UPPER, "<", 5.0, 9.0))
    assert run.sites[site].value != run.sites[site].value


def test_sites_and_comparisons_of_a_run_are_limited() -> None:
    run = RunValues()
    for line in range(MOST_SITES + 2):
        run.add(Site("a.py", line, 0), Value(UPPER, "<", 5.0, 1.0))
    assert (len(run.sites), run.left_out, run.is_full) == (MOST_SITES, 2, False)
    run.comparisons = MOST_COMPARISONS
    assert run.is_full


def test_line_without_one_assertion_is_no_site(tmp_path: Path) -> None:
    file = tmp_path / "t.py"
    file.write_text("x = 1\nassert x < 2; assert x < 3\nassert f(x < 2) < 3\n")
    sources = Sources()
    assert sources.comparisons(str(file), 1) is None and sources.comparisons(str(file), 2) is None
    found = sources.comparisons(str(file), 3)
    assert found is not None and [[each.op for each in group] for group in found] == [[""], ["<"]]
    assert sources.comparisons(str(tmp_path / "none.py"), 1) is None


def test_name_of_a_test_is_found_from_any_folder_or_a_near_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Laboratory.__new__(Laboratory)
    ids = ["tests/test_a.py::test_x[matrix0]", "tests/test_a.py::test_y"]
    monkeypatch.setattr(Laboratory, "collect", lambda self, paths: ids)
    assert lab.find("tests/test_a.py::test_y") == lab.find("test_a.py::test_y") == ids[1]
    with pytest.raises(Problem, match=r"Did you mean tests/test_a.py::test_x\[matrix0\]\?"):
        lab.find("tests/test_a.py::test_x[gaussian]")
    with pytest.raises(Problem, match=r"among the 2 tests of test_a.py\.$"):
        lab.find("test_a.py")


# -- processes -------------------------------------------------------------------------------------------------------


def test_groups_that_differ_are_seen_and_others_are_not() -> None:
    draw = random.Random(1)
    groups = [process for process in range(4) for _ in range(25)]
    alike = [draw.gauss(0, 1) for _ in groups]
    apart = [draw.gauss(process, 0.5) for process in groups]
    assert p_value_of_groups(alike, groups) > 0.05
    assert p_value_of_groups(apart, groups) < 0.01
    assert p_value_of_groups([1.0] * 100, groups) == p_value_of_groups(alike, [0] * 100) == 1.0
    assert p_value_of_groups([*alike[:-1], float("nan")], groups) == 1.0


@pytest.mark.parametrize(
    ("failed", "runs", "low", "high"),
    [(0, 100, 0.0, 0.0362), (7, 200, 0.0142, 0.0708), (17, 500, 0.0199, 0.0539), (5, 5, 0.4782, 1.0)],
)
def test_interval_of_a_share(failed: int, runs: int, low: float, high: float) -> None:
    assert clopper_pearson(failed, runs) == pytest.approx((low, high), abs=5e-5)


# -- answers ---------------------------------------------------------------------------------------------------------


def run_of(number: int, value: float, bound: float = 1.0) -> Measurement:
    site = {Site("t.py", 3, 0): ("upper", "<", bound, value)}
    return Measurement(number, 1, "t.py::t", "failed" if value >= bound else "passed", site, ("t.py:2",))


def test_series_keep_one_bound_or_make_differences() -> None:
    (same,) = series_of([run_of(1, 0.25), run_of(2, 2.0)])
    assert same.as_json() == {
        "file": "t.py",
        "line": 3,
        "ordinal": 0,
        "kind": "upper",
        "op": "<",
        "bound": 1.0,
        "values": [0.25, 2.0],
    }
    assert same.failures == 1 and not same.is_constant
    (other,) = series_of([run_of(1, 0.25, 1.0), run_of(2, 0.5, 0.75)])
    assert other.as_json()["kind"] == "difference" and other.as_json()["values"] == [-0.75, -0.25]
    assert series_of([run_of(1, 0.25)], only="t.py:4") == []
    assert SiteSeries(Site("t.py", 1, 0), "upper", "<", [float("inf")], [1.0]).as_json()["values"] == ["inf"]


def test_answer_without_a_server_counts() -> None:
    findings = Findings("t.py::t", [run_of(number, value) for number, value in enumerate((0.25, 2.0, 0.5, 0.75), 1)])
    body = as_json(findings, ".", keeps_seeds=False)
    text = "\n".join(lines(findings, body))
    assert "4 runs, 1 failed (25.0%" in text and "t.py:3   1 of 4 failed" in text
    assert "sets seeds itself at t.py:2" in text and "numbers: 2." in text


def test_month_of_a_bound() -> None:
    conclusion: dict[str, Any] = {"present": {"share": 0.05}, "tolerated": 0.001, "proposal": {"word": "write"}}
    now = "30 failures a month now, and at most 0.6 failures a month then."
    assert monthly(conclusion, 20.0, has_fixed_seeds=False) == f"  At 20 runs a day that is {now}"
    assert monthly(conclusion, 20.0, has_fixed_seeds=True) == (
        f"  At 20 runs a day and with its seeds left free that is {now}"
    )
    seldom = monthly(conclusion, 0.1, has_fixed_seeds=False)
    assert seldom == "  At 0.1 runs a day that is 0.15 failures a month now, and at most a failure in 28 years then."
    assert monthly(conclusion, None, has_fixed_seeds=False) == ""


def test_wrong_options_are_refused() -> None:
    from flakeboard.cli import build_parser

    parser = build_parser()
    for words in (["--runs", "99"], ["--runs", "3001"], ["--budget", "0"], ["--failures", "0.7"]):
        with pytest.raises(SystemExit):
            parser.parse_args(["bounds", "t.py::t", *words])
    options = parser.parse_args(["bounds", "--local"])
    options.words = []
    assert command.bounds(options) == 2
