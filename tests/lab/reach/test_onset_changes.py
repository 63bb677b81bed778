"""What changed when a test became flaky: kinds of files, ranges that are joined from runs, the chance of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from analytics.kernel.causes.onset_changes import (
    AT_ONSET,
    FileGroup,
    OnsetChange,
    chance_of,
    onset_changes,
    onset_shares,
)
from analytics.models import TestFinding
from analytics.reach.file_kinds import FileKind, OwnFiles, is_own_file, kind_of_file
from analytics.reach.ranges import KnownChanges
from analytics.services import analysis_refresh
from dashboard.web.test.reach import onset_sentence
from ingest.identity import TestName
from ingest.models import Project, Run, RunChange
from ingest.reach.change_file import Change, ChangedFile
from ingest.services import token_create
from tests.api_client import Program
from tests.lab.experiments import junit
from tests.lab.reach.uploads import CART, TAX
from tests.lab.why.uploads import send
from tests.science.test_published import needs_data, rows


def commit(number: int) -> str:
    return f"{number:040x}"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("tests/test_cart.py", FileKind.TEST),
        ("tests/data/rates.json", FileKind.TEST),
        ("shop/test_cart.py", FileKind.TEST),
        ("shop/cart_test.go", FileKind.TEST),
        ("src/cart.test.tsx", FileKind.TEST),
        ("src/test/java/shop/Cart.java", FileKind.TEST),
        ("module/src/shop/CartTests.java", FileKind.TEST),
        ("shop/Contest.java", FileKind.CODE),
        ("shop/latest.py", FileKind.CODE),
        ("shop/attest.go", FileKind.CODE),
        ("shop/price.py", FileKind.CODE),
        ("web/app.ts", FileKind.CODE),
        ("tests/requirements.txt", FileKind.BUILD),
        ("sub/pom.xml", FileKind.BUILD),
        ("package.json", FileKind.BUILD),
        ("poetry.lock", FileKind.BUILD),
        (".github/workflows/ci.yml", FileKind.BUILD),
        ("README.md", FileKind.OTHER),
        ("LICENSE", FileKind.OTHER),
        ("c", FileKind.OTHER),
    ],
)
def test_a_file_is_known_by_its_path(path: str, kind: FileKind) -> None:
    assert kind_of_file(path) is kind


@pytest.mark.parametrize(
    ("path", "test", "own"),
    [
        ("tests/test_cart.py", TestName(1, file="tests/test_cart.py"), True),
        ("backend/tests/test_cart.py", TestName(1, file="tests/test_cart.py"), True),
        ("src/cart.test.ts", TestName(1, file="/home/ci/shop/src/cart.test.ts"), True),
        ("src/cart.test.ts", TestName(1, file="src\\cart.test.ts"), True),
        ("tests/test_cart.py", TestName(1, file="other_tests/test_cart.py"), False),
        ("tests/test_cart.py", TestName(1, classname="tests.test_cart.TestTotal"), True),
        ("tests/test_cart.py", TestName(1, classname="tests.test_cart_two"), False),
        ("a/src/test/java/shop/CartTest.java", TestName(1, classname="shop.CartTest$Inner"), True),
        ("a/src/test/java/shop/CartTest.java", TestName(1, classname="workshop.CartTest"), False),
        ("src/test/CartTest.java", TestName(1, classname="CartTest"), True),
        ("shop/cart.py", TestName(1, classname="cart"), False),
        ("tests/test_cart.py", TestName(1), False),
    ],
)
def test_the_own_file_is_found_by_report_or_class(path: str, test: TestName, own: bool) -> None:
    assert is_own_file(path, test) is own
    assert OwnFiles(["README.md", path]).of(test) == ({path} if own else set())


def test_what_always_changes_says_nothing_and_what_never_does_says_much() -> None:
    both = frozenset({FileGroup.OWN, FileGroup.CODE})
    own, tests, code, build = onset_changes(both, both | {FileGroup.BUILD}, 2, {FileGroup.CODE: 90}, 99)
    assert (own.changed, tests.changed, code.changed, build.changed) == (True, False, True, None)
    assert own.chance == pytest.approx(1 - 0.99**2) and code.chance == pytest.approx(1 - 0.09**2)
    assert not own.is_telling(), "1.99 % is more than a fourth of 5 %"
    assert OnsetChange(FileGroup.OWN, True, 0, 99, chance_of(0, 99, 1)).is_telling()
    assert not OnsetChange(FileGroup.OWN, None, 0, 99, chance_of(0, 99, 1)).is_telling(), "not sure that it changed"
    assert {each.chance for each in onset_changes(both, both, 1, {}, 19)} == {None}, "19 others are too few"


@needs_data
def test_published_onsets_are_counted_as_they_are_published() -> None:
    """Lam 2020: own file 24, other tests 32, code under test 55, build files 33 of 61."""
    columns = {
        FileGroup.OWN: "Flaky Test File Modified",
        FileGroup.TESTS: "Other Test Files Modified",
        FileGroup.CODE: "Code Under Test Files Modified",
        FileGroup.BUILD: "Build Related Files Modified",
    }
    later = [row for row in rows("idoft/tic-fic-data.csv") if row["TIC = FIC"] != "TRUE"]
    onsets = []
    for row in later:
        changed = frozenset(what for what, column in columns.items() if row[column] == "TRUE")
        onsets.append(onset_changes(changed, changed, 1, {}, 0))
    shares = onset_shares(onsets)
    assert [shares[what].part for what in FileGroup] == [24, 32, 55, 33]
    assert {share.whole for share in shares.values()} == {61}
    assert shares[FileGroup.CODE].low < 55 / 61 < shares[FileGroup.CODE].high


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        (
            {"its own file": (True, 0, 99, 0.01), "code": (True, 90, 99, 0.9)},
            "When it became flaky its own file changed, as in only 0 of 99 other changes of the project.",
        ),
        (
            {"code": (True, 90, 99, 0.9), "build files": (True, 40, 99, 0.4)},
            "When it became flaky code and build files changed. That is nothing unusual here.",
        ),
        ({"code": (True, 2, 3, None)}, "When it became flaky code changed."),
        (
            {"code": (None, 2, 3, None)},
            "What changed when it became flaky is known only together with what changed before.",
        ),
        (
            {"code": (False, 2, 3, None)},
            "When it became flaky neither tests nor code nor build files changed: look outside of the repository.",
        ),
    ],
)
def test_the_sentence_names_what_stands_out(kinds: dict[str, tuple], sentence: str) -> None:
    assert onset_sentence([OnsetChange(FileGroup(what), *values) for what, values in kinds.items()]) == sentence


# -- ranges ------------------------------------------------------------------------------------------------------


def change_to(base: int, *paths: str) -> tuple[str, bytes]:
    files = [{"path": path, "status": "M"} for path in paths]
    body = {"flakeboard_changes": 1, "base": commit(base), "head": "", "files": files}
    return "flakeboard-changes.json", json.dumps(body).encode()


class History:
    """Runs of the default branch, an hour apart: each of its commit, with what it tells of its change."""

    def __init__(self, project: Project) -> None:
        self.project, self._began, self._runs = project, timezone.now() - timedelta(days=20), 0

    def run(self, number: int, base: int | None, *paths: str, failed: Sequence[str] = (), **metadata: object) -> int:
        self._runs += 1
        at = self._began + timedelta(hours=self._runs)
        told = [] if base is None else [change_to(base, *paths)]
        known = {"commit": commit(number), "build_id": str(self._runs), **metadata}
        upload = send(self.project, junit([CART, TAX], failed, at=at), *told, at=at, **known)
        assert upload.run_id is not None
        return upload.run_id

    def between(self, before: int, after: int) -> tuple[set[str], set[str], int] | None:
        asked = (commit(before), commit(after))
        found = KnownChanges(self.project).between([asked]).get(asked)
        return None if found is None else (set(found.sure), set(found.possible), len(found.steps))


@pytest.fixture
def history(project: Project) -> History:
    return History(project)


def test_changes_are_joined_from_base_to_base(history: History) -> None:
    history.run(1, None)
    history.run(2, 1, "a.py")
    history.run(3, 2, "b.py")
    history.run(4, 2, "b.py", "c.py")
    assert history.between(1, 2) == ({"a.py"}, {"a.py"}, 1)
    assert history.between(1, 3) == ({"a.py", "b.py"}, {"a.py", "b.py"}, 2)
    assert history.between(2, 2) is None and history.between(1, 9) is None and history.between(9, 2) is None


def test_a_wider_change_says_what_surely_changed_and_what_may_have(history: History) -> None:
    """At the range's beginning something else failed, so that both ends were told against an older base."""
    history.run(1, None)
    history.run(2, 1, "a.py", "b.py")
    history.run(3, 1, "a.py", "b.py", "c.py")
    assert history.between(2, 3) == ({"c.py"}, {"a.py", "b.py", "c.py"}, 1)
    history.run(4, None)
    history.run(5, 1, "a.py")
    assert history.between(4, 5) == (set(), {"a.py"}, 1), "nobody told what had changed before"


def test_changes_of_forks_and_unknown_ones_are_no_part_of_a_range(history: History) -> None:
    history.run(1, None)
    history.run(2, 1, "a.py", untrusted=True)
    assert history.between(1, 2) is None and not KnownChanges(history.project)


def flaky_history(history: History, *, others: int) -> None:
    """Other changes to code alone; then the test's own file changes with the code, and it contradicts itself."""
    _changes(history.project, range(1, others))
    history.run(others, others - 1, "shop/price.py")
    history.run(others + 1, others, "shop/price.py", "tests/test_cart.py", failed=[CART])
    history.run(others + 1, others, "shop/price.py", "tests/test_cart.py")
    analysis_refresh(project=history.project)


def _changes(project: Project, commits: Sequence[int]) -> None:
    """Runs of the month before, without reports, that only told of a change to code."""
    began = timezone.now() - timedelta(days=60)
    runs = [
        Run(
            project=project,
            key=number.to_bytes(16, "big"),
            commit=commit(number),
            branch="main",
            started_at=at,
            placed_at=at,
        )
        for number in (commits[0] - 1, *commits)
        for at in [began + timedelta(hours=number)]
    ]
    stored = {int(run.commit, 16): run for run in Run.objects.bulk_create(runs)}
    data = Change(files=(ChangedFile("shop/price.py", "M"),)).packed()
    RunChange.objects.bulk_create(
        RunChange(project=project, run=stored[number], base=commit(number - 1), files=1, data=data)
        for number in commits
    )


def kinds_of(project: Project, name: str = "test_total") -> dict[str, dict]:
    found = TestFinding.objects.get(analysis__project=project, analysis__current=True, number=_number(project, name))
    return {kind["what"]: kind for kind in found.data["onset_changes"]["kinds"]}


def _number(project: Project, name: str) -> int:
    return project.test_set.get(name=name).number


def test_an_analysis_finds_what_changed_and_how_often_it_does_anyway(history: History, admin_client: Client) -> None:
    flaky_history(history, others=80)
    project = history.project
    kinds = kinds_of(project)
    own = kinds["its own file"]
    assert (own["changed"], own["others"], own["of"]) == (True, 0, 80) and own["chance"] == pytest.approx(1 / 81)
    assert kinds["code"]["changed"] is True and kinds["code"]["others"] == 80 and kinds["code"]["chance"] == 1
    assert kinds["other tests"]["changed"] is kinds["build files"]["changed"] is False
    number = _number(project, "test_total")
    page = admin_client.get(f"/projects/{project.slug}/tests/{number}").content.decode()
    assert "When it became flaky its own file changed, as in only 0 of 80 other changes of the project." in page
    body = Program(token_create(project=project, name="reader", scope="read")[1], project.slug).read(f"tests/{number}")
    assert body["finding"]["onset_changes"]["after"] == commit(81)
    assert body["finding"]["onset_changes"]["before"] == commit(80)
    assert AT_ONSET not in body["finding"]["unjudged"]


def test_with_few_other_changes_there_is_no_chance_and_that_is_said(history: History) -> None:
    flaky_history(history, others=3)
    found = TestFinding.objects.get(analysis__current=True, number=_number(history.project, "test_total"))
    assert {kind["chance"] for kind in found.data["onset_changes"]["kinds"]} == {None}
    assert AT_ONSET in found.data["unjudged"]


def test_a_pull_request_is_judged_by_its_own_change(history: History) -> None:
    history.run(0, None)
    history.run(1, 0, "shop/price.py")
    for failed in ([TAX], []):
        history.run(2, 1, "pyproject.toml", failed=failed, branch="mend", pull_request="7")
    analysis_refresh(project=history.project)
    changed = {what for what, kind in kinds_of(history.project, "test_rate").items() if kind["changed"]}
    assert changed == {"build files"}
