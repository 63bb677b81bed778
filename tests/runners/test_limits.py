"""The client and the server must agree on what one upload may hold."""

from flakeboard.server import packages

from ingest.junit.limits import Limits


def test_the_client_splits_where_the_server_would_leave_out() -> None:
    assert Limits().files >= packages.FILES
    assert Limits().bytes_out >= packages.BYTES
