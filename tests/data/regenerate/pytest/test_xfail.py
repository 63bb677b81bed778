import pytest


@pytest.mark.xfail(reason="known bug 7")
def test_xfail():
    assert False


@pytest.mark.xfail(reason="known bug 8")
def test_xpass():
    pass


@pytest.mark.xfail(reason="known bug 9", strict=True)
def test_xpass_strict():
    pass


@pytest.mark.xfail(reason="only for KeyError", raises=KeyError)
def test_xfail_wrong_exception():
    raise ValueError("not a KeyError")


@pytest.mark.xfail(reason="not even tried", run=False)
def test_xfail_not_run():
    raise SystemExit(3)


def test_xfail_inside():
    pytest.xfail("decided at run time")


def test_pass():
    pass
