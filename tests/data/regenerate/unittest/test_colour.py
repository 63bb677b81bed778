import unittest


class Colour(unittest.TestCase):
    def test_fail(self):
        print("\x1b[31mprinted in red\x1b[0m")
        self.fail("failed \x1b[31min red\x1b[0m, with nul \x00")

    def test_pass(self):
        pass
