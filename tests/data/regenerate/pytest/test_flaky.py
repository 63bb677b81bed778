import pytest
from attempts import attempt


def test_pass():
    pass


def test_passes_at_third_attempt():
    n = attempt("third")
    print(f"attempt {n}")
    assert n >= 3, f"attempt {n} of third"


def test_passes_at_second_attempt():
    n = attempt("second")
    if n < 2:
        raise TimeoutError(f"attempt {n} of second")


def test_always_fails():
    n = attempt("always")
    assert False, f"attempt {n} of always"


@pytest.fixture
def flaky_setup():
    if attempt("setup") < 2:
        raise ConnectionError("setup failed once")


def test_setup_fails_once(flaky_setup):
    pass


@pytest.fixture
def flaky_teardown():
    yield
    if attempt("teardown") < 2:
        raise ConnectionError("teardown failed once")


def test_teardown_fails_once(flaky_teardown):
    pass


def test_skipped_at_second_attempt():
    if attempt("skip") == 2:
        pytest.skip("gave up")
    assert False, "first attempt"


@pytest.mark.skip(reason="skipped for good")
def test_skip():
    pass
