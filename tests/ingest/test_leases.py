"""Claims that are renewed while their holder lives."""

import threading

import pytest
from django.db import OperationalError

from ingest.leases import kept_alive

OFTEN = 0.003


def test_a_claim_is_renewed_until_the_work_is_done() -> None:
    renewals = threading.Semaphore(0)
    with kept_alive("a claim", OFTEN, renewals.release):
        for _ in range(3):
            assert renewals.acquire(timeout=10)
    assert not [thread for thread in threading.enumerate() if thread.name == "lease of a claim"]


def test_the_work_goes_on_where_the_claim_cannot_be_renewed(caplog: pytest.LogCaptureFixture) -> None:
    asked = threading.Event()

    def renew() -> None:
        asked.set()
        raise OperationalError

    with kept_alive("a claim", OFTEN, renew):
        assert asked.wait(10)
    assert caplog.messages == ["a claim: the lease could not be renewed"]


def test_an_error_of_the_work_ends_the_renewing() -> None:
    with pytest.raises(ZeroDivisionError), kept_alive("a claim", 60, lambda: None):
        raise ZeroDivisionError
    assert not [thread for thread in threading.enumerate() if thread.name == "lease of a claim"]
