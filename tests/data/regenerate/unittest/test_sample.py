import unittest


class Sums(unittest.TestCase):
    def test_pass(self):
        """A docstring that some reporters use as the name."""

    def test_fail(self):
        print("printed before the failure")
        self.assertEqual({"a": [1, 2]}, {"a": [1, 3]}, "message with <b> & ]]>")

    def test_error(self):
        raise KeyError("missing")

    @unittest.skip("not today")
    def test_skip(self):
        pass

    def test_skip_inside(self):
        self.skipTest("not here")

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail("known bug")

    @unittest.expectedFailure
    def test_unexpected_success(self):
        pass

    def test_subtests(self):
        for number in range(4):
            with self.subTest("odd", number=number):
                self.assertEqual(number % 2, 0)


class BrokenSetup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ConnectionError("no database")

    def test_first(self):
        pass

    def test_second(self):
        pass


class BrokenTeardown(unittest.TestCase):
    def tearDown(self):
        raise OSError("cannot clean up")

    def test_fail_then_teardown_error(self):
        self.fail("body failed")

    def test_pass_then_teardown_error(self):
        pass
