"""A project of each runner whose tests ran once, all green, with one of them quarantined: made once, never changed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from dashboard.quarantine.services import Terms, quarantine_create
from dashboard.quarantine.states import Action
from ingest.models import Project, Test, Token
from ingest.processing import upload_process
from ingest.services import project_create, token_create
from tests.api_client import committed_once
from tests.quarantine.conftest import ANNA
from tests.redteam.conftest import send
from tests.runners.board import Board, Ran
from tests.runners.suites import SUITES, Suite, copied, forget_counts


@dataclass(frozen=True)
class Place:
    """A suite with its board, and the folder in which it ran green."""

    suite: Suite
    board: Board
    folder: Path


Run = Callable[..., Ran]


@pytest.fixture(scope="package")
def _worker() -> Iterator[None]:
    """Uploads are processed as they come."""
    wake = lambda upload_id: upload_process(upload_id=upload_id)  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        for place in ("quarantine.gate", "upload.uploads"):
            patch.setattr(f"dashboard.api.{place}.wake_worker", wake)
        yield


@pytest.fixture(scope="package")
def places(
    _worker: None, django_db_setup: None, django_db_blocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Place]]:
    made: dict[str, Place] = {}
    with ExitStack() as stack:

        def place(name: str) -> Place:
            if name not in made:
                folder = tmp_path_factory.mktemp(name) / "project"
                board = stack.enter_context(committed_once(django_db_blocker, lambda: _make(name, folder)))
                made[name] = Place(SUITES[name], board, folder)
            return made[name]

        yield place


def _make(name: str, folder: Path) -> Board:
    suite = SUITES[name]
    folder.mkdir()
    suite.write(folder)
    project = project_create(slug=f"runner-{name}", name=name)
    board = Board(project, token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1])
    if suite.green:
        send(project, suite.green.encode(), build_id="green")
    else:
        ran = board.run(suite.command, folder, suite.environ, suite.options)
        assert ran.exit_code == 0 and len(ran.decisions) == 1, ran.output
    quarantine(project, *suite.quarantined)
    return board


def quarantine(project: Project, classname: str, name: str) -> None:
    test = Test.objects.get(project=project, classname=classname, name=name)
    quarantine_create(project=project, tests=[test], actor=ANNA, terms=Terms(), action=Action.QUARANTINE)


@pytest.fixture
def place(places: Callable[[str], Place], request: pytest.FixtureRequest) -> Place:
    """The suite that the test's row, or its marker, names; there before the test's transaction begins."""
    marker = request.node.get_closest_marker("runner")
    return places(marker.args[0] if marker else request.node.callspec.params["name"])


@pytest.fixture
def run(place: Place, db: None, tmp_path: Path) -> Run:
    """run("--bail", fails="stock"): the suite's command with more arguments, under `flakeboard run`."""

    def run_suite(
        *arguments: str, fails: str = "", options: Sequence[str] = (), command: Sequence[str] = (), **environ: str
    ) -> Ran:
        folder = tmp_path / "project"
        if not folder.exists():
            copied(place.folder, folder)
        forget_counts(folder)
        told = {**place.suite.environ, "FAILS": fails, **environ}
        words = [*(command or place.suite.command), *arguments]
        return place.board.run(words, folder, told, [*place.suite.options, *options])

    return run_suite
