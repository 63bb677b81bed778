"""What `flakeboard bounds` sends: values of the assertions of one test. Nothing in it is believed."""

import math
from dataclasses import dataclass
from typing import Any

from dashboard.api.errors import ApiError
from dashboard.api.lab.experiment_serializers import storable
from ingest.lab.values import KINDS, LONGEST_FILE, MOST_SITES, SiteValue

FORM = 1
MOST_BYTES = 4 * 1024 * 1024
MOST_VALUES = 5_000
"""Of one site."""
SEEDS = ("varied", "kept", "")
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_FIELDS = ("form", "test", "commit", "environment", "seeds", "runs", "failed", "tolerated", "sites")
_MOST_RUNS = 1_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    test: str
    commit: str
    environment: dict[str, str]
    seeds: str
    runs: int
    failed: int
    tolerated: float
    sites: list[tuple[SiteValue, list[float]]]


def read_values(data: Any) -> Measured:
    """The body, checked; 422 bad_values with what is wrong with it, and with which site."""
    if not isinstance(data, dict):
        raise bad("The body must be a JSON object.")
    unknown = sorted(set(data) - set(_FIELDS))
    if unknown:
        raise bad(f"There is no field {unknown[0][:40]!r}; there are {', '.join(_FIELDS)}.")
    if data.get("form") != FORM or isinstance(data.get("form"), bool):
        raise bad(f"form must be {FORM}.")
    runs, failed = _count(data, "runs"), _count(data, "failed")
    if failed > runs:
        raise bad("failed must be at most runs.")
    sites = data.get("sites")
    if not isinstance(sites, list) or not 1 <= len(sites) <= MOST_SITES:
        raise bad(f"sites must be a list of 1 to {MOST_SITES}.")
    read = [_site(number, site) for number, site in enumerate(sites)]
    places = {(site.file, site.line, site.ordinal) for site, _ in read}
    if len(places) < len(read):
        raise bad("Two sites are the same: file, line and ordinal.")
    return Measured(
        test=_text(data, "test", 4_000, least=1),
        commit=_text(data, "commit", 64),
        environment=_environment(data.get("environment", {})),
        seeds=_seeds(data.get("seeds", "")),
        runs=runs,
        failed=failed,
        tolerated=_tolerated(data.get("tolerated", 0.001)),
        sites=read,
    )


def bad(sentence: str) -> ApiError:
    return ApiError(422, "bad_values", sentence)


def _text(data: dict[str, Any], name: str, longest: int, least: int = 0) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or not least <= len(value) <= longest or not storable(value):
        raise bad(f"{name} must be text of at most {longest:,} characters.")
    return value


def _count(data: dict[str, Any], name: str, most: int = _MOST_RUNS, least: int = 0) -> int:
    value = data.get(name)
    if type(value) is not int or not least <= value <= most:
        raise bad(f"{name} must be a whole number from {least:,} to {most:,}.")
    return value


def _seeds(value: Any) -> str:
    if value not in SEEDS:
        raise bad("seeds must be varied or kept.")
    return str(value)


def _tolerated(value: Any) -> float:
    if type(value) is not float or not 1e-6 <= value <= 0.5:
        raise bad("tolerated must be a number from 0.000001 to 0.5.")
    return value


def _environment(value: Any) -> dict[str, str]:
    fine = isinstance(value, dict) and len(value) <= 32 and storable(value)
    if not fine or not all(isinstance(text, str) and len(name) + len(text) <= 500 for name, text in value.items()):
        raise bad("environment must be an object of at most 32 texts.")
    return dict(value)


def _site(number: int, site: Any) -> tuple[SiteValue, list[float]]:
    where = f"Site {number}"
    names = ("file", "line", "ordinal", "kind", "op", "bound", "values")
    if not isinstance(site, dict) or sorted(site) != sorted(names):
        raise bad(f"{where} must have exactly {', '.join(names)}.")
    file, kind, op = site["file"], site["kind"], site["op"]
    if not isinstance(file, str) or not 1 <= len(file) <= LONGEST_FILE or not storable(file):
        raise bad(f"{where}: file must be text of at most {LONGEST_FILE} characters.")
    where = f"{where} ({file[:80]})"
    if not isinstance(kind, str) or not isinstance(op, str) or op not in KINDS.get(kind, ()):
        raise bad(f"{where}: kind must be one of {', '.join(KINDS)}, and op fit it.")
    try:
        line, ordinal = _count(site, "line", 9_999_999, 1), _count(site, "ordinal", 9_999)
    except ApiError as error:
        raise bad(f"{where}: {error.sentence}") from None
    bound = _number(site["bound"])
    if bound is None:
        raise bad(f"{where}: bound must be a number.")
    return SiteValue(file, line, ordinal, kind, op, bound, 0.0), _values(where, site["values"])


def _values(where: str, given: Any) -> list[float]:
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_VALUES:
        raise bad(f"{where}: values must be a list of 1 to {MOST_VALUES:,} numbers.")
    values = [_number(value) for value in given]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        raise bad(f"{where}: value {values.index(None)} is no number; write nan, inf and -inf as text.")
    return known


def _number(value: Any) -> float | None:
    """A number, or the text of one that JSON has none for."""
    if type(value) is float:
        return value
    if type(value) is int:
        return float(value) if abs(value) < 2**1023 else None
    return _NOT_FINITE.get(value) if isinstance(value, str) else None
