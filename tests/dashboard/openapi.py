"""Whether an answer is what the OpenAPI schema says: its schemas as JSON schemas, nothing unsaid allowed."""

from functools import cache
from typing import Any

import yaml
from django.test import Client
from jsonschema import Draft202012Validator


@cache
def _document() -> dict[str, Any]:
    """Made once a process: it depends on the code alone."""
    return yaml.load(Client().get("/api/schema").content, yaml.CSafeLoader)


@cache
def _components() -> Any:
    return _strict(_document()["components"])


class Schema:
    def __init__(self) -> None:
        self.document = _document()

    def check(self, operation_id: str, status: int, body: Any) -> None:
        """Fail with the first place where the body is not as said."""
        content = self.operation(operation_id)["responses"][str(status)]["content"]
        schema = {**_strict(content["application/json"]["schema"]), "components": _components()}
        errors = sorted(Draft202012Validator(schema).iter_errors(body), key=lambda error: str(error.path))
        assert not errors, (operation_id, list(errors[0].absolute_path), errors[0].message)

    def operation(self, operation_id: str) -> dict[str, Any]:
        found = [
            operation
            for methods in self.document["paths"].values()
            for operation in methods.values()
            if operation["operationId"] == operation_id
        ]
        assert len(found) == 1
        return found[0]


def _strict(part: Any) -> Any:
    """`nullable` as JSON schema says it, and no property besides those that are named."""
    if isinstance(part, list):
        return [_strict(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    strict = {name: _strict(inner) for name, inner in part.items() if name != "nullable"}
    if part.get("type") == "object" and "properties" in part and isinstance(part["properties"], dict):
        strict.setdefault("additionalProperties", False)
    return {"anyOf": [strict, {"type": "null"}]} if part.get("nullable") is True else strict
