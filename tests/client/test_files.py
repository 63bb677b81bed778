"""Which files are sent, and how they are packed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from flakeboard.problems import Problem
from flakeboard.reports import files
from flakeboard.reports.collection import ReportCollection
from flakeboard.server import packages
from flakeboard.server.packages import named, pack

from tests.client.commands import FAILED, GREEN


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in ("b.xml", "a.xml", "reports/x.xml", "reports/deep/er/y.xml", "reports/notes.txt", "odd[1].xml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("<testsuite/>")
    return tmp_path


def found(*patterns: str) -> list[str]:
    return [path.replace(os.sep, "/") for path in files.find(patterns)]


def test_globs_are_recursive_sorted_and_each_file_comes_once(tree: Path) -> None:
    assert found("**/*.xml", "a.xml", "./reports/../b.xml") == [
        *("a.xml", "b.xml", "odd[1].xml", "reports/deep/er/y.xml", "reports/x.xml"),
    ]


def test_a_folder_means_its_xml_files(tree: Path) -> None:
    assert found("reports") == ["reports/deep/er/y.xml", "reports/x.xml"]


def test_a_file_is_found_by_a_name_that_looks_like_a_pattern(tree: Path) -> None:
    assert found("odd[1].xml") == ["odd[1].xml"]


def test_a_link_to_a_file_is_the_same_file(tree: Path) -> None:
    os.symlink("a.xml", "link.xml")
    assert len(found("a.xml", "link.xml")) == 1


def test_no_match_is_an_empty_list(tree: Path) -> None:
    assert found("nothing/**/*.xml") == []


def test_names_in_the_archive_never_climb_out_and_never_collide(tree: Path) -> None:
    outside = tree.parent / "a.xml"
    outside.write_text("<testsuite/>")
    names = [name for _, name in named(["a.xml", "../a.xml", str(tree / "b.xml")])]
    assert names == ["a.xml", "_/a.xml", "b.xml"]


def test_the_same_files_make_the_same_bytes(tree: Path) -> None:
    def body() -> tuple[bytes, str]:
        with pack(named(["a.xml", "b.xml"]), {"commit": "1"}) as package:
            return package.rewound().read(), package.digest

    first = body()
    os.utime("a.xml", (1, 1))
    assert body() == first


def test_another_exit_code_is_another_request(tree: Path) -> None:
    with pack(named(["a.xml"]), {}, "gate 1") as one, pack(named(["a.xml"]), {}, "gate 2") as other:
        assert one.digest != other.digest


def test_a_file_that_is_gone_is_a_problem_with_its_name(tree: Path) -> None:
    with pytest.raises(Problem, match=r"gone\.xml"):
        pack(named(["gone.xml"]), {})


def test_packing_does_not_hold_the_files_in_memory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "big.xml").write_bytes(b"<testsuite/>" * 500_000)
    sizes = []
    original = packages.tarfile.copyfileobj

    def watched(source: str | None, target, length=None, *rest: Any, **more: Any) -> Any:
        sizes.append(length)
        return original(source, target, length, *rest, **more)

    monkeypatch.setattr(packages.tarfile, "copyfileobj", watched)
    with pack(named(["big.xml"]), {}):
        assert sizes == [6_000_000]


@pytest.mark.parametrize(
    ("other", "kept"),
    [(FAILED, ["own.xml"]), (GREEN, ["junit.xml", "own.xml"])],
    ids=["of-the-same-session", "with-other-results"],
)
def test_a_reporters_note_replaces_a_guess_that_counts_the_same(tmp_path: Path, other: str, kept: list[str]) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    junit, own = tmp_path / "junit.xml", tmp_path / "own.xml"
    guessed, given = (ReportCollection([str(junit)], 0.0, str(notes), guess) for guess in (True, False))
    junit.write_text(other)
    own.write_text(FAILED)
    (notes / "npm-1-2.json").write_text(json.dumps({"reporter": "jest", "reports": [str(own)]}))
    found = guessed.collected()
    assert [Path(path).name for path in found.fresh] == kept
    assert not found.is_counted, "it says nothing of tests that did not run"
    assert len(given.collected().fresh) == 2, "what somebody names is sent"
