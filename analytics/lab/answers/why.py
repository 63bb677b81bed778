"""The answer of `flakeboard why`: what differs when a test fails, and what was shown by holding and forcing it."""

import json
from collections.abc import Mapping
from typing import Any

from ingest.redaction import redact

VERDICTS = ("explained", "may be chance", "goes with", "nothing recorded", "not enough data")
_DIFFERENCES = 10
_RECIPES = 100
_TEXT = 1_000
_NAME = 100
_RECIPE_BYTES = 64 * 1024
_MOST = 10**9


def why_answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a result; what is not as agreed is left out."""
    verdict, recipe = result.get("verdict"), result.get("forced")
    fits = isinstance(recipe, dict) and len(json.dumps(recipe)) <= _RECIPE_BYTES
    return {
        "is_reproduced": result.get("is_reproduced") is True,
        "verdict": verdict if verdict in VERDICTS else VERDICTS[-1],
        "runs": {name: _count(_table(result.get("runs")).get(name)) for name in ("failing", "passing")},
        "differences": [_difference(each) for each in _rows(result.get("differences"))[:_DIFFERENCES]],
        "symptoms": [_difference(each) for each in _rows(result.get("symptoms"))[:_DIFFERENCES]],
        "recipes": [_recipe(each) for each in _rows(result.get("recipes"))[:_RECIPES]],
        "command": _text(result.get("reproduction"), 4_000),
        "recipe": json.loads(redact(json.dumps(recipe))) if fits else None,
        "recipe_file": _text(result.get("recipe"), _NAME),
    }


def is_shown(difference: Mapping[str, Any]) -> bool:
    """Whether holding and forcing it decided how the test ended."""
    return difference["tried"] is not None and difference["tried"]["is_shown"]


def _difference(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sentence": _text(row.get("sentence"), _TEXT),
        "category": _text(row.get("category"), _NAME),
        "kind": _text(row.get("kind"), _NAME),
        "site": _site(row.get("site")),
        "failing": _share(row.get("failing")),
        "passing": _share(row.get("passing")),
        "separation": _part(row.get("separation")),
        "chance": _part(row.get("chance")),
        "tier": min(_count(row.get("tier")), 3),
        "tried": _trial(row.get("tried")),
    }


def _trial(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    sides = {
        side: {name: _count(_table(value.get(side)).get(name)) for name in ("failed", "of")}
        for side in ("held", "forced")
    }
    return {**sides, "p": _part(value.get("p")), "is_shown": value.get("is_shown") is True}


def _recipe(row: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: _count(row.get(name)) for name in ("failed", "of")}
    return {"what": _text(row.get("what"), _TEXT), "side": _text(row.get("side"), _NAME), **counts}


def _site(value: Any) -> list[Any] | None:
    if not isinstance(value, list) or len(value) != 5 or not all(isinstance(part, str) for part in value[:3]):
        return None
    return [*(_text(part, 512) for part in value[:3]), *map(_count, value[3:])]


def _share(value: Any) -> dict[str, int]:
    return {name: _count(_table(value).get(name)) for name in ("x", "of")}


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any, longest: int) -> str:
    return redact(value)[:longest] if isinstance(value, str) else ""


def _count(value: Any) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST
    return int(value) if is_number else 0


def _part(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_number else 1.0
