import unittest


class Sums(unittest.TestCase):
    def test_pass(self):
        self.assertEqual(1 + 1, 2)

    def test_fail(self):
        self.assertEqual(1 + 1, 3)

    @unittest.skip("unittest skip")
    def test_skip(self):
        pass

    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail("as expected")

    @unittest.expectedFailure
    def test_unexpected_success(self):
        pass
