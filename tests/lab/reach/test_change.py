"""The change of a run by git: which files and functions, and when nobody knows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from flakeboard.reach import change
from flakeboard.reach.change import SHALLOW, Unknown, companions, described
from flakeboard.reach.limits import ReachLimits

from ingest.reach.change_file import read_change

SOURCE = '''"""Prices."""

RATE = 2


def total(cart):
    """Adds."""
    number = 0
    for each in cart:
        number += each
    return number


def outer():
    def inner():
        return 1

    return inner()


class Cart:
    def __init__(self, size=1):
        self.size = size
'''
GIT = (
    "git",
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "init.defaultBranch=main",
)


def git(folder: Path, *words: str) -> str:
    return subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GITHUB_BASE_REF"):
        monkeypatch.delenv(name, raising=False)
    git(tmp_path, "init", "-q")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "price.py").write_text(SOURCE)
    (tmp_path / "rates äö.json").write_text("{}\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commit(folder: Path, **files: str) -> dict[str, dict[str, Any]]:
    """The files of the change that these make, by path."""
    for name, text in files.items():
        (folder / name.replace("__", "/")).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "next")
    body = described("HEAD~1")
    read_change(json.dumps({"flakeboard_changes": 1, **body}).encode())  # the server takes it
    return {file["path"]: file for file in body["files"]}


@pytest.mark.parametrize(
    ("old", "new", "functions", "outside"),
    [
        ("number += each", "number += 2 * each", ["total"], False),
        ("        return 1", "        return 2", ["outer"], False),
        ("        self.size = size", "        self.size = size + 1", ["Cart.__init__"], False),
        ("RATE = 2", "RATE = 3", [], True),
        ("size=1", "size=2", [], True),
        ("def outer():", "@staticmethod\ndef outer():", [], True),
        ("RATE = 2\n", "RATE = 2\n\n# a remark\n", [], False),
        ("    return number\n", "    return number\n\n\ndef added():\n    return 1\n", ["added"], True),
        ("\n\ndef outer():\n    def inner():\n        return 1\n\n    return inner()\n", "", ["outer"], True),
    ],
)
def test_what_changed_in_a_module(checkout: Path, old: str, new: str, functions: list[str], outside: bool) -> None:
    assert old in SOURCE
    file = commit(checkout, **{"shop__price.py": SOURCE.replace(old, new, 1)})["shop/price.py"]
    assert (file["status"], file.get("functions", []), file.get("outside", False)) == ("M", functions, outside)


def test_files_that_come_and_go_and_what_is_no_python(checkout: Path) -> None:
    (checkout / "shop" / "price.py").rename(checkout / "shop" / "prices.py")
    found = commit(checkout, **{"rates äö.json": '{"a": 1}\n', "broken.py": "def (:\n"})
    assert {path: file["status"] for path, file in found.items()} == {
        "broken.py": "A",
        "rates äö.json": "M",
        "shop/price.py": "D",
        "shop/prices.py": "A",
    }
    assert found["rates äö.json"]["ranges"] == [[1, 1, 1, 1]] and "outside" not in found["rates äö.json"]
    again = commit(checkout, **{"broken.py": "def )):\n"})
    assert again["broken.py"]["outside"], "what cannot be read may have changed everywhere"


def test_what_the_base_gained_meanwhile_is_not_of_the_change(checkout: Path) -> None:
    git(checkout, "checkout", "-qb", "feature")
    commit(checkout, **{"own.txt": "1\n"})
    git(checkout, "checkout", "-q", "main")
    commit(checkout, **{"theirs.txt": "1\n"})
    git(checkout, "checkout", "-q", "feature")
    assert [file["path"] for file in described("main")["files"]] == ["own.txt"]


def test_too_many_files_are_unknown(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change, "LIMITS", ReachLimits(changed_files=1))
    with pytest.raises(Unknown, match="2 files changed, more than 1"):
        commit(checkout, **{"a.txt": "", "b.txt": ""})


class _Answer:
    def __init__(self, body: Any) -> None:
        self._body = body

    def json(self) -> Any:
        return self._body


class _Api:
    """A server that says what the base is."""

    class settings:  # noqa: N801 - as the real one has it
        timeout = 5.0

    def __init__(self, body: Any) -> None:
        self._body = body
        self.asked: list[Any] = []

    def get(self, path: str, query: Any, seconds: float) -> _Answer:
        self.asked.append((path, query))
        return _Answer(self._body)


def sent(api: Any, folder: Path, **metadata: str) -> tuple[dict[str, Any] | None, str]:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    paths, line = companions(api, metadata, str(out), ["r.jsonl"])
    if not paths:
        return None, line
    assert paths[0] == "r.jsonl"
    return json.loads(Path(paths[-1]).read_text()), line


def test_nothing_goes_to_a_server_that_does_not_know_of_changes(checkout: Path) -> None:
    assert sent(_Api({"detail": "no"}), checkout) == (None, "")


def test_the_base_is_the_last_green_run_or_where_a_pull_request_left(checkout: Path) -> None:
    first = git(checkout, "rev-parse", "HEAD")
    commit(checkout, **{"a.txt": "1"})
    second = git(checkout, "rev-parse", "HEAD")
    git(checkout, "checkout", "-qb", "feature")
    commit(checkout, **{"b.txt": "1"})
    answer = {"takes_changes": True, "commit": first, "default_branch": "main"}
    api = _Api(answer)
    body, _ = sent(api, checkout, branch="feature")
    assert body and (body["base"], len(body["files"])) == (first, 2) and api.asked == [("base", {"branch": "feature"})]
    body, _ = sent(_Api(answer), checkout, branch="feature", pull_request="7")
    assert body and (body["base"], [file["path"] for file in body["files"]]) == (second, ["b.txt"])


def test_a_shallow_clone_is_told_with_what_to_do(checkout: Path) -> None:
    body, line = sent(_Api({"takes_changes": True, "commit": "0" * 40, "default_branch": "main"}), checkout)
    assert body == {"flakeboard_changes": 1, "unknown": SHALLOW}
    assert "fetch-depth: 0" in line
    body, _ = sent(_Api({"takes_changes": True, "commit": None}), checkout, pull_request="7", branch="x")
    assert body == {"flakeboard_changes": 1, "unknown": SHALLOW}, "no target branch is here"
    body, _ = sent(_Api({"takes_changes": True, "commit": "--output=x"}), checkout)
    assert body == {"flakeboard_changes": 1, "unknown": SHALLOW}, "no option of git's"


def test_without_a_checkout_only_reach_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    api = _Api({"takes_changes": True})
    assert companions(api, {}, str(tmp_path), ["r.jsonl"]) == (["r.jsonl"], "")  # type: ignore[arg-type]
    assert companions(api, {}, str(tmp_path), []) == ([], "") and len(api.asked) == 1  # type: ignore[arg-type]
