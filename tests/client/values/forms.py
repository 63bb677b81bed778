"""A test project with every form of approximate assertion, passing and failing, and the value that each must give."""

from __future__ import annotations

from pathlib import Path

FORMS: dict[str, tuple[str, list[str]]] = {
    # name: statement(s), and what is recorded of it: kind, op, bound, value
    "less": ("x = 0.25\nassert x < 0.5", ["upper < 0.5 0.25"]),
    "less_fails": ("x = 0.75\nassert x < 0.5", ["upper < 0.5 0.75"]),
    "less_equal": ("x = 3\nassert x <= 4", ["upper <= 4.0 3.0"]),
    "less_equal_fails": ("x = 5\nassert x <= 4", ["upper <= 4.0 5.0"]),
    "greater": ("x = 0.9\nassert x > 0.5", ["lower > 0.5 0.9"]),
    "greater_fails": ("x = 0.25\nassert x > 0.5", ["lower > 0.5 0.25"]),
    "greater_equal": ("x = 2\nassert x >= 2", ["lower >= 2.0 2.0"]),
    "greater_equal_fails": ("x = 1\nassert x >= 2", ["lower >= 2.0 1.0"]),
    "mirrored": ("x = 0.25\nassert 0.5 > x", ["upper < 0.5 0.25"]),
    "mirrored_fails": ("x = 0.75\nassert 0.5 > x", ["upper < 0.5 0.75"]),
    "negated": ("x = 0.25\nassert not x > 0.5", ["upper <= 0.5 0.25"]),
    "negated_fails": ("x = 0.75\nassert not x > 0.5", ["upper <= 0.5 0.75"]),
    "chained": ("x = 0.25\nassert 0.125 < x < 0.5", ["lower > 0.125 0.25", "upper < 0.5 0.25"]),
    "chained_fails": ("x = 0.75\nassert 0.125 < x < 0.5", ["lower > 0.125 0.75", "upper < 0.5 0.75"]),
    "both": ("x, y = 1, 2\nassert x < 3 and y < 4", ["upper < 3.0 1.0", "upper < 4.0 2.0"]),
    "both_second_fails": ("x, y = 1, 5\nassert x < 3 and y < 4", ["upper < 3.0 1.0", "upper < 4.0 5.0"]),
    "either": ("x, y = 1, 2\nassert x < 0 or y < 4", []),
    "inside_a_call": ("x = 1\nassert bool(x < 3)", []),
    "inner_and_outer": ("x = 1\nassert int(x < 3) < 2", ["upper < 2.0 1.0"]),
    "loop": ("for x in (1, 3, 2):\n    assert x < 5", ["upper < 5.0 3.0"]),
    "equal": ("x = 1\nassert x == 1", []),
    "text": ("x = 'a'\nassert x < 'b'", []),
    "boolean": ("x = True\nassert x > False", []),
    "huge": ("x = 10**400\nassert x > 1", []),
    "large_whole": ("x = 2**60\nassert x < 2**61", ["upper < 2.305843009213694e+18 1.152921504606847e+18"]),
    "decimal": ("from decimal import Decimal\nx = Decimal('0.25')\nassert x < 0.5", ["upper < 0.5 0.25"]),
    "not_a_number_fails": ("x = float('nan')\nassert x < 1", ["upper < 1.0 nan"]),
    "approx": ("x = 1.25\nassert x == pytest.approx(1, abs=0.5)", ["share <= 1.0 0.5"]),
    "approx_fails": ("x = 2.0\nassert x == pytest.approx(1, abs=0.5)", ["share <= 1.0 2.0"]),
    "approx_relative": ("x = 10.0\nassert x == pytest.approx(8, rel=0.5)", ["share <= 1.0 0.5"]),
    "approx_left": ("x = 1.25\nassert pytest.approx(1, abs=0.5) == x", ["share <= 1.0 0.5"]),
    "approx_list": ("x = [1.0, 2.25]\nassert x == pytest.approx([1, 2], abs=0.5)", ["share <= 1.0 0.5"]),
    "approx_dict": ("x = {'a': 1.25}\nassert x == pytest.approx({'a': 1}, abs=0.5)", ["share <= 1.0 0.5"]),
    "approx_list_fails": ("x = [1.0, 3.0]\nassert x == pytest.approx([1, 2], abs=0.5)", ["share <= 1.0 2.0"]),
    "approx_dict_fails": ("x = {'a': 2.0}\nassert x == pytest.approx({'a': 1}, abs=0.5)", ["share <= 1.0 2.0"]),
    "math_close": ("x = 1.25\nassert math.isclose(x, 1, abs_tol=0.5)", ["share <= 1.0 0.5"]),
    "math_close_fails": ("x = 2.0\nassert math.isclose(x, 1, abs_tol=0.5)", ["share <= 1.0 2.0"]),
    "math_close_outside": ("x = math.isclose(1.25, 1, abs_tol=0.5)", []),
    "message": ("x = 0.75\nassert x < 0.5, 'too much'", ["upper < 0.5 0.75"]),
    "hostile": ("class A:\n    def __lt__(s, o): return True\n    def __repr__(s): raise KeyError\nassert A() < 1", []),
    "skipped": ("x = 1\npytest.skip('no')\nassert x < 3", []),
}
NUMPY: dict[str, tuple[str, list[str]]] = {
    "scalar": ("x = np.float32(0.25)\nassert x < 0.5", ["upper < 0.5 0.25"]),
    "no_dimensions": ("x = np.array(0.25)\nassert x < 0.5", ["upper < 0.5 0.25"]),
    "flag": ("x = np.bool_(True)\nassert x > 0", []),
    "approx_array": (
        "x = np.array([1.0, 2.25])\nassert x == pytest.approx(np.array([1, 2.0]), abs=0.5)",
        ["share <= 1.0 0.5"],
    ),
    "approx_array_fails": (
        "x = np.array([1.0, 3.0])\nassert x == pytest.approx(np.array([1, 2.0]), abs=0.5)",
        ["share <= 1.0 2.0"],
    ),
    "allclose_function": ("np.testing.assert_allclose([1.25, 1], 1, rtol=0, atol=0.5)", ["share <= 1.0 0.5"]),
    "allclose_function_fails": ("np.testing.assert_allclose([1.25, 3], 1, rtol=0, atol=0.5)", ["share <= 1.0 4.0"]),
    "numpy_almost": ("np.testing.assert_almost_equal(1.375, 1, decimal=0)", ["share <= 1.0 0.25"]),
    "numpy_almost_fails": ("np.testing.assert_almost_equal(4, 1, decimal=0)", ["share <= 1.0 2.0"]),
    "array_almost": ("np.testing.assert_array_almost_equal([1.375], [1], decimal=0)", ["share <= 1.0 0.25"]),
    "array_almost_fails": ("np.testing.assert_array_almost_equal([4], [1], decimal=0)", ["share <= 1.0 2.0"]),
    "approximately": ("np.testing.assert_approx_equal(1.25, 1, significant=1)", ["share < 1.0 0.25"]),
    "approximately_fails": ("np.testing.assert_approx_equal(3, 1, significant=1)", ["share < 1.0 2.0"]),
    "array_less": ("np.testing.assert_array_less([1, 2.5], [2, 3])", ["upper < 0.0 -0.5"]),
    "array_less_fails": ("np.testing.assert_array_less([1, 3.5], [2, 3])", ["upper < 0.0 0.5"]),
    "allclose": ("assert np.allclose([1.25], 1, rtol=0, atol=0.5)", ["share <= 1.0 0.5"]),
    "allclose_fails": ("assert np.allclose([2], 1, rtol=0, atol=0.5)", ["share <= 1.0 2.0"]),
    "isclose": ("assert np.isclose([1.25], 1, rtol=0, atol=0.5).all()", ["share <= 1.0 0.5"]),
    "isclose_fails": ("assert np.isclose([2], 1, rtol=0, atol=0.5).all()", ["share <= 1.0 2.0"]),
    "isclose_negated": ("assert not np.isclose(3, 1, rtol=0, atol=0.5)", []),
}
HEAD = "import math\nimport unittest\nimport pytest\n"
CASES = """
class TestCases(unittest.TestCase):
    def test_case_almost(self):
        self.assertAlmostEqual(1.25, 1, delta=0.5)
    def test_case_almost_fails(self):
        self.assertAlmostEqual(1.75, 1, places=0)
    def test_case_less(self):
        self.assertLess(1, 2)
    def test_case_less_fails(self):
        self.assertLess(2, 1)
    def test_case_less_equal_fails(self):
        self.assertLessEqual(2, 1)
    def test_case_greater_fails(self):
        self.assertGreater(1, 2)
    def test_case_greater_equal_fails(self):
        self.assertGreaterEqual(1, 2)
    def test_case_less_equal(self):
        self.assertLessEqual(1, 1)
    def test_case_greater(self):
        self.assertGreater(2, 1)
    def test_case_greater_equal(self):
        self.assertGreaterEqual(2, 1)
"""
OF_CASES = {
    "test_case_almost": ["share <= 1.0 0.5"],
    "test_case_almost_fails": ["share <= 1.0 1.5"],
    "test_case_less": ["upper < 2.0 1.0"],
    "test_case_less_fails": ["upper < 1.0 2.0"],
    "test_case_less_equal_fails": ["upper <= 1.0 2.0"],
    "test_case_greater_fails": ["lower > 2.0 1.0"],
    "test_case_greater_equal_fails": ["lower >= 2.0 1.0"],
    "test_case_less_equal": ["upper <= 1.0 1.0"],
    "test_case_greater": ["lower > 1.0 2.0"],
    "test_case_greater_equal": ["lower >= 1.0 2.0"],
}
TORCH = '''
"""What of torch the plugin needs."""
import numpy
from . import testing
def allclose(input, other, rtol=1e-05, atol=1e-08):
    return bool(numpy.allclose(input.numpy(), other.numpy(), rtol=rtol, atol=atol))
class Tensor:
    def __init__(self, values, dtype="float32"):
        self._values, self.dtype, self.shape = numpy.array(values, dtype), "torch." + dtype, numpy.shape(values)
    def detach(self): return self
    def cpu(self): return self
    def numpy(self): return self._values
    def __float__(self): return float(self._values)
    def __lt__(self, other): return self._values < other
'''
TORCH_TESTING = """
def assert_close(actual, expected, *, rtol=None, atol=None):
    if abs(actual.numpy() - expected.numpy()).max() > 1:
        raise AssertionError("Tensor-likes are not close!")
"""
TENSORFLOW = """
import types, unittest
class TestCase(unittest.TestCase):
    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        assert abs(a - b) <= atol + rtol * abs(b)
test = types.SimpleNamespace(TestCase=TestCase)
random = types.SimpleNamespace(set_seed=lambda seed: None)
"""
OTHERS = """
import tensorflow as tf
import torch

def test_torch_close():
    torch.testing.assert_close(torch.Tensor([1.25]), torch.Tensor([1.0]), rtol=0, atol=0.5)
def test_torch_close_fails():
    torch.testing.assert_close(torch.Tensor([4.0]), torch.Tensor([1.0]), rtol=0, atol=0.5)
def test_torch_by_type():
    torch.testing.assert_close(torch.Tensor([2.0], "float64"), torch.Tensor([1.0], "float64"))
def test_torch_allclose():
    assert torch.allclose(torch.Tensor([1.25]), torch.Tensor([1.0]), rtol=0, atol=0.5)
def test_torch_allclose_fails():
    assert torch.allclose(torch.Tensor([2.0]), torch.Tensor([1.0]), rtol=0, atol=0.5)
def test_torch_scalar():
    x = torch.Tensor(0.25)
    assert x < 0.5

class TestFlow(tf.test.TestCase):
    def test_close_fails(self):
        self.assertAllClose(2.0, 1.0, rtol=0, atol=0.5)
    def test_close(self):
        self.assertAllClose(1.25, 1.0, rtol=0, atol=0.5)
"""
OF_OTHERS = {
    "test_torch_close": ["share <= 1.0 0.5"],
    "test_torch_close_fails": ["share <= 1.0 6.0"],
    "test_torch_by_type": [f"share <= 1.0 {1 / 2e-7!r}"],
    "test_torch_allclose": ["share <= 1.0 0.5"],
    "test_torch_allclose_fails": ["share <= 1.0 2.0"],
    "test_torch_scalar": ["upper < 0.5 0.25"],
    "test_close_fails": ["share <= 1.0 2.0"],
    "test_close": ["share <= 1.0 0.5"],
}


def _function(name: str, body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"def test_{name}():\n{lines}\n"


def write_forms(folder: Path, numpy: bool = True) -> dict[str, list[str]]:
    """The project, and what is recorded of each of its tests."""
    plain = HEAD + "".join(_function(name, body) for name, (body, _) in FORMS.items()) + CASES
    (folder / "test_forms.py").write_text(plain)
    wanted = {**{f"test_{name}": values for name, (_, values) in FORMS.items()}, **OF_CASES}
    if numpy:
        more = HEAD + "import numpy as np\n" + "".join(_function(name, body) for name, (body, _) in NUMPY.items())
        (folder / "test_forms_numpy.py").write_text(more)
        (folder / "torch").mkdir()
        (folder / "torch" / "__init__.py").write_text(TORCH)
        (folder / "torch" / "testing.py").write_text(TORCH_TESTING)
        (folder / "tensorflow.py").write_text(TENSORFLOW)
        (folder / "test_others.py").write_text(OTHERS)
        wanted.update({f"test_{name}": values for name, (_, values) in NUMPY.items()})
        wanted.update(OF_OTHERS)
    return wanted
