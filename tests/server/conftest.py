from collections.abc import Iterator

import pytest

from tests.server.installation import Installation, installed


@pytest.fixture(scope="package")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One for all tests of server mode: each adds to what was accepted, and all of it must hold."""
    soon = {"ANALYSIS_DELAY_SECONDS": "3", "ANALYSIS_LEASE_SECONDS": "20", "WEB_SILENCE_SECONDS": "1"}
    with installed(tmp_path_factory.mktemp("server"), **soon) as running:
        yield running
