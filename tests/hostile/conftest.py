"""After each hostile input the next honest one is still read."""

from collections.abc import Iterator

import pytest

from tests.hostile.measuring import CANARY
from tests.ingest.junit.reading import read


@pytest.fixture(autouse=True)
def canary_is_read_afterwards() -> Iterator[None]:
    yield
    assert read(CANARY).counts()["passed"] == 1
