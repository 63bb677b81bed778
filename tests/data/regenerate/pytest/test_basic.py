import sys

import pytest


def test_pass():
    assert 1 + 1 == 2


def test_fail():
    left, right = {"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]}
    assert left == right, "totals differ: <b> & 'co'"


def test_exception():
    raise KeyError("missing")


def test_skip_inside():
    pytest.skip("not today")


@pytest.mark.skipif(sys.version_info > (3,), reason="python 2 only")
def test_skip_mark():
    raise AssertionError("never runs")


def test_fail_without_trace():
    pytest.fail("said so", pytrace=False)


class TestGroup:
    def test_pass(self, record_property):
        record_property("ticket", "FB-1")

    def test_fail(self):
        print("printed before the failure")
        raise RuntimeError("boom\nsecond line")

    class TestInner:
        def test_pass(self):
            pass
