"""Functions that compare approximately: of unittest, math, numpy, torch and tensorflow, each with how it measures.

A wrapper measures, calls the original with the same arguments and returns what it returns. Its frame is taken out of
tracebacks, so that failures read as they always do."""

from __future__ import annotations

import functools
import math
import sys
import threading
import types
from typing import Any, Callable, Iterator

from flakeboard.values.measures import array, distance, number, share, worst_share
from flakeboard.values.recorder import Recorder
from flakeboard.values.sites import LOWER, SHARE, UPPER, Value

Measure = Callable[..., "Value | None"]


def _share(used: float | None, op: str = "<=") -> Value | None:
    return None if used is None else Value(SHARE, op, 1.0, used)


def _allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0, *_: Any, **__: Any) -> Value | None:
    return _share(worst_share(actual, desired, lambda d: atol + rtol * abs(d)))


def _is_close(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, *_: Any, **__: Any) -> Value | None:
    return _allclose(a, b, rtol, atol)


def _almost_equal(actual: Any, desired: Any, decimal: int = 7, *_: Any, **__: Any) -> Value | None:
    return _share(worst_share(actual, desired, lambda d: 1.5 * 10.0**-decimal))


def _array_almost_equal(actual: Any, desired: Any, decimal: int = 6, *_: Any, **__: Any) -> Value | None:
    return _almost_equal(actual, desired, decimal)


def _approx_equal(actual: Any, desired: Any, significant: int = 7, *_: Any, **__: Any) -> Value | None:
    """Both are divided by the power of ten of their mean size."""
    a, d = number(actual), number(desired)
    if a is None or d is None:
        return None
    size = 0.5 * (abs(a) + abs(d))
    if a == d or size == 0:
        return _share(0.0, "<")
    scale = 10.0 ** math.floor(math.log10(size)) if math.isfinite(size) else 1.0
    return _share(share(abs(d / scale - a / scale), 10.0 ** -(significant - 1)), "<")


def _array_less(x: Any, y: Any, *_: Any, **__: Any) -> Value | None:
    a, b = array(x), array(y)
    if a is None or b is None:
        return None
    difference = a - b
    return Value(UPPER, "<", 0.0, float(difference.max())) if difference.size else None


def _math_is_close(a: Any, b: Any, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Value | None:
    x, y = number(a), number(b)
    if x is None or y is None:
        return None
    return _share(share(distance(x, y), max(rel_tol * max(abs(x), abs(y)), abs_tol)))


_BY_TYPE = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
"""torch.testing.assert_close: relative and absolute tolerance by the type of the elements; the wider type's count."""


def _torch_close(actual: Any, expected: Any, *_: Any, rtol: Any = None, atol: Any = None, **__: Any) -> Value | None:
    if rtol is None or atol is None:
        types = [str(getattr(each, "dtype", "float64")).rpartition(".")[2] for each in (actual, expected)]
        tolerances = [_BY_TYPE.get(name, (0.0, 0.0)) for name in types]
        rtol, atol = (max(parts) for parts in zip(*tolerances))
    return _allclose(actual, expected, rtol, atol)


def _tensorflow_close(_: Any, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, *__: Any, **___: Any) -> Any:
    return _allclose(a, b, rtol, atol)


def _unittest_almost(_: Any, first: Any, second: Any, places: Any = None, msg: Any = None, delta: Any = None) -> Any:
    a, b = number(first), number(second)
    if a is None or b is None:
        return None
    tolerance = number(delta) if delta is not None else 0.5 * 10.0 ** -(7 if places is None else places)
    return None if tolerance is None else _share(share(distance(a, b), tolerance))


def _unittest_order(op: str) -> Measure:
    def measure(_: Any, a: Any, b: Any, msg: Any = None) -> Value | None:
        x, bound = number(a), number(b)
        if x is None or bound is None:
            return None
        return Value(UPPER if op.startswith("<") else LOWER, op, bound, x)

    return measure


FUNCTIONS: dict[str, dict[str, tuple[Measure, bool]]] = {
    "math": {"isclose": (_math_is_close, True)},
    "numpy": {"allclose": (_is_close, True), "isclose": (_is_close, True)},
    "numpy.testing": {
        "assert_allclose": (_allclose, False),
        "assert_almost_equal": (_almost_equal, False),
        "assert_array_almost_equal": (_array_almost_equal, False),
        "assert_approx_equal": (_approx_equal, False),
        "assert_array_less": (_array_less, False),
    },
    "torch": {"allclose": (_is_close, True)},
    "torch.testing": {"assert_close": (_torch_close, False)},
    "unittest.TestCase": {
        "assertAlmostEqual": (_unittest_almost, False),
        "assertLess": (_unittest_order("<"), False),
        "assertLessEqual": (_unittest_order("<="), False),
        "assertGreater": (_unittest_order(">"), False),
        "assertGreaterEqual": (_unittest_order(">="), False),
    },
    "tensorflow.test.TestCase": {"assertAllClose": (_tensorflow_close, False)},
}
"""Owner -> its functions, each with its measure, and whether it says something only inside of an assertion."""
MODULES = ("numpy", "numpy.testing", "torch", "torch.testing", "tensorflow")
"""Patched when they are first imported; the others at once."""


class FunctionWatch:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._kept: list[tuple[Any, str, Any]] = []
        self._inside = threading.local()

    def watch(self, owner: str, holder: Any) -> None:
        """Wrap the functions of a module or class that is there."""
        for name, (measure, in_assert) in FUNCTIONS[owner].items():
            original = vars(holder).get(name)
            if original is None or getattr(original, "flakeboard_original", None) is not None:
                continue
            setattr(holder, name, self._wrapper(original, name, measure, in_assert))
            self._kept.append((holder, name, original))

    def stop(self) -> None:
        for holder, name, original in reversed(self._kept):
            setattr(holder, name, original)
        self._kept = []

    def _wrapper(self, original: Any, name: str, measure: Measure, in_assert: bool) -> Any:
        recorder, inside = self._recorder, self._inside

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not recorder.is_on or getattr(inside, "is_on", False):
                return original(*args, **kwargs)
            inside.is_on = True
            try:
                try:
                    recorder.called(_caller(), name, measure(*args, **kwargs), in_assert)
                except Exception:
                    recorder.swallowed += 1
                return original(*args, **kwargs)
            finally:
                inside.is_on = False

        wrapper.flakeboard_original = original  # type: ignore[attr-defined]
        return wrapper if not isinstance(original, types.BuiltinFunctionType) else _Builtin(wrapper, original)


class _Builtin:
    """Reads as the function that it stands for, where a failure shows it."""

    def __init__(self, wrapper: Any, original: Any) -> None:
        self.flakeboard_original = original
        self._wrapper = wrapper
        self.__name__, self.__doc__, self.__module__ = original.__name__, original.__doc__, original.__module__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._wrapper(*args, **kwargs)

    def __repr__(self) -> str:
        return repr(self.flakeboard_original)


def _caller() -> types.FrameType | None:
    """The first frame outside of this module."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame


def without_our_frames(error: BaseException | None) -> None:
    """Take the wrappers' frames out of the tracebacks of an error and of those behind it."""
    for each in _chain(error):
        entry = each.__traceback__
        while entry is not None and entry.tb_next is not None:
            following = entry.tb_next
            if following.tb_frame.f_code.co_filename == __file__ and following.tb_next is not None:
                entry.tb_next = following.tb_next
            else:
                entry = following


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
