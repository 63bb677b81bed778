import unittest

import pytest


def test_all_pass(subtests):
    for i in range(3):
        with subtests.test(i=i):
            assert i < 3


def test_two_of_four_fail(subtests):
    for i in range(4):
        with subtests.test("number", i=i):
            assert i % 2 == 0


def test_subtest_fails_and_body_fails(subtests):
    with subtests.test("inner"):
        assert "inner" == "wrong"
    assert "body" == "wrong"


def test_subtest_skips(subtests):
    with subtests.test("one"):
        pytest.skip("one is skipped")
    with subtests.test("two"):
        pass


class Numbers(unittest.TestCase):
    def test_unittest_subtests(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)
