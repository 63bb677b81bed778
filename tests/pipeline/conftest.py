"""The board that all cases share, and a project's folder for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.board import Board, started
from tests.pipeline.shop import Shop


@pytest.fixture(scope="package")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    with started(tmp_path_factory.mktemp("board")) as made:
        yield made


@pytest.fixture
def shop(board: Board, tmp_path: Path, request: pytest.FixtureRequest) -> Shop:
    """A job of its own, named after the test: no other case is its norm."""
    return Shop(tmp_path / "shop", board.url, board.tokens["upload"], request.node.name)
