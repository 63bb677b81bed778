import pytest


@pytest.fixture
def no_database():
    raise ConnectionError("no database")


@pytest.fixture
def dirty():
    yield
    raise OSError("cannot clean up")


@pytest.fixture
def skipping():
    pytest.skip("no device")


def test_pass():
    pass


def test_setup_error(no_database):
    pass


def test_pass_then_teardown_error(dirty):
    pass


def test_fail_then_teardown_error(dirty):
    assert "call" == "failed"


def test_skip_in_fixture(skipping):
    pass


def test_skip_then_teardown_error(dirty):
    pytest.skip("skipped, then cleaned up badly")
