"""Compared objects as numbers: plain ones, shares of a tolerance, and the worst element of arrays.

Nothing is called on objects of unknown classes. Whatever cannot be measured is None."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any, Callable, Sequence

_KNOWN = frozenset(["numpy", "torch", "tensorflow", "jax", "jaxlib"])
_HIDDEN = float("inf")


def number(value: Any) -> float | None:
    """The value as a float; None for anything that is no single real number."""
    kind = type(value)
    if kind is float:
        return value
    if kind is bool or issubclass(kind, complex):
        return None
    try:
        if issubclass(kind, (int, float, Decimal, Fraction)):
            return float(value)
        if kind.__module__.partition(".")[0] in _KNOWN and _is_single(value):
            return float(value)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return None
    return None


def _is_single(value: Any) -> bool:
    """A scalar or an array of no dimensions that holds a real number."""
    shape, kind = getattr(value, "shape", None), str(getattr(value, "dtype", ""))
    return shape is not None and len(tuple(shape)) == 0 and "bool" not in kind and "complex" not in kind


def array(value: Any) -> Any:
    """An array of numpy, without a copy where it is one; None without numpy or where it holds no numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if hasattr(type(value), "detach"):
        value = value.detach().cpu()
    if hasattr(type(value), "numpy"):
        value = value.numpy()
    made = numpy.asarray(value)
    if made.dtype.kind in "iu":
        made = made.astype(float)
    return made if made.dtype.kind == "f" else None


def share(difference: float, tolerance: float) -> float:
    """How much of a tolerance is used."""
    if difference == 0:
        return 0.0
    return difference / tolerance if tolerance > 0 else _HIDDEN


def distance(a: float, b: float) -> float:
    return 0.0 if a == b else abs(a - b)


def worst_share(actual: Any, desired: Any, tolerance: Callable[[Any], Any]) -> float | None:
    """The largest share of the tolerance that an element uses; equal elements, also infinite ones, use nothing."""
    a, d = array(actual), array(desired)
    if a is None or d is None:
        return None
    numpy = sys.modules["numpy"]
    with numpy.errstate(all="ignore"):
        both_nan = numpy.isnan(a) & numpy.isnan(d)
        difference = numpy.where((a == d) | both_nan, 0.0, numpy.abs(a - d))
        limit = tolerance(d)
        used = numpy.where(difference == 0, 0.0, numpy.where(limit > 0, difference / limit, numpy.inf))
    return float(used.max()) if used.size else None


def worst_approx(expected: Any, actual: Any) -> float | None:
    """The share of the tolerance of `pytest.approx` that is used, of the worst element."""
    if hasattr(type(expected), "tolerance"):
        return _approx_share(expected, actual)
    if type(expected).__name__ == "ApproxNumpy":
        own = expected._approx_scalar(1.0)
        rel, least = _parts(own)
        return worst_share(actual, expected.expected, lambda d: sys.modules["numpy"].maximum(rel * abs(d), least))
    pairs = expected._yield_comparisons(actual)
    shares = [_approx_share(expected._approx_scalar(own), value) for value, own in pairs]
    return worst_of(shares)


def _parts(own: Any) -> tuple[float, float]:
    """The relative and the absolute tolerance; only an absolute one that is given stands alone."""
    rel, least = own.rel, own.abs
    if rel is None and least is not None:
        return 0.0, float(least)
    usual_rel, usual_abs = 1e-6, 1e-12
    return float(usual_rel if rel is None else rel), float(usual_abs if least is None else least)


def _approx_share(expected: Any, actual: Any) -> float | None:
    wanted, value = number(getattr(expected, "expected", None)), number(actual)
    tolerance = number(expected.tolerance) if wanted is not None else None
    if wanted is None or value is None or tolerance is None:
        return None
    if math.isnan(wanted) and math.isnan(value):
        return 0.0
    return share(distance(value, wanted), tolerance)


def worst_of(shares: Sequence[float | None]) -> float | None:
    """The largest; not a number where one is none."""
    known = [each for each in shares if each is not None]
    if len(known) < len(shares) or not known:
        return None
    return float("nan") if any(math.isnan(each) for each in known) else max(known)
