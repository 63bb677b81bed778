"""Every operation of the API, with requests made from its own schema by schemathesis: no 500, and no answer that the
schema does not promise. `SCHEMA_EXAMPLES` asks for more requests than a run of all tests has time for."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

import pytest
import schemathesis
from django.db import transaction
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation

from ingest.models import Token
from tests.access.conftest import committed, world
from tests.access.world import World
from tests.extent import repeats, slice_of

__all__ = ["committed", "world"]

schemathesis.serializer.alias("application/gzip", "application/octet-stream")

EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", repeats(2, 3)))
COVERED = max(repeats(5, 15), 2 * EXAMPLES)
TRIED = 40
"""Operations that get any request in `make test`; each gets its boundaries and wrong methods there, too."""
_CONFIG = {
    "generation": {"with-security-parameters": False},  # each request gets a token of ours
    "checks": {
        "ignored_auth": {"enabled": False},  # who is let in, tests/access walks
        # The schema says which requests are well-formed; that a test is quarantined already, only the server knows.
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "304", "401", "403", "404", "409", "413", "415", "422"]
        },
        "negative_data_rejection": {"expected-statuses": ["4xx", "304"]},
    },
}


def _application(environ: dict[str, Any], start_response: Any) -> Any:
    """The one that is served; imported late, because it wants its static files to be there."""
    from dashboard.wsgi import application

    return application(environ, start_response)


@cache
def api() -> Any:
    """Made when the first test asks for it: every process collects this module, and one runs it."""
    config = schemathesis.Config.from_dict(_CONFIG)
    schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True), config=config)
    schema.app = _application
    return schema


@cache
def operations() -> list[APIOperation]:
    return [found.ok() for found in api().get_all_operations()]


SCOPES = Token.Scope.values
a_few = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def within_the_test(monkeypatch: pytest.MonkeyPatch, requests_within_test: None) -> None:
    """Requests share the test's transaction, and none is held."""
    monkeypatch.setattr("dashboard.api.upload.waits._look_until", lambda is_done, deadline: None)


@contextmanager
def undone() -> Iterator[None]:
    """What one request changes is not there for the next."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def ask(world: World, case: Case, scope: str) -> None:
    """One request with a token of this scope, judged by every check that there is."""
    case.headers["Authorization"] = f"Bearer {world.tokens[scope]}"
    with undone():
        case.call_and_validate()


def there(world: World, operation: APIOperation) -> dict[str, Any]:
    """Something that is there for each part of the operation's address."""
    parts = [path_parameter.name for path_parameter in operation.path_parameters]
    named = {**world.named, "action": "approve"}
    if "view" in parts:
        named["view"], named["number"] = world.named["cluster"]
    return {name: named[name] for name in parts}


def wrong(operations: list[Any], test: Callable[[Any], None]) -> list[str]:
    """What the checks say of those that fail."""
    told = []
    for operation in operations:
        try:
            test(operation)
        except FailureGroup as failures:
            told.append(f"{operation.label}\n{failures}")
    return told


def is_judged(value: Any) -> bool:
    """Whether a parameter of a query means what it says: an empty one is none, and space around a text is taken off."""
    return value not in ({}, [], "") and not (isinstance(value, str) and value != value.strip())


def can_be_wrong(operation: APIOperation) -> bool:
    """Whether something in a request can be against the schema; any bytes are a binary body."""
    bodies = [body for body in operation.body if body.media_type != "application/gzip"]
    return bool(operation.query or bodies)


@pytest.mark.parametrize("mode", GenerationMode)
def test_no_request_that_the_schema_can_make_is_answered_against_it(
    mode: GenerationMode, world: World, within_the_test: None
) -> None:
    def test(operation: Any) -> None:
        addresses = ({"slug": "shop"}, there(world, operation))
        cases = st.one_of([operation.as_strategy(mode, path_parameters=address) for address in addresses])

        @a_few
        @given(case=cases, scope=st.sampled_from(SCOPES))
        def holds(case: Case, scope: str) -> None:
            assume(mode.is_positive or all(map(is_judged, (case.query or {}).values())))
            ask(world, case, scope)

        holds()

    can = [operation for operation in operations() if mode.is_positive or can_be_wrong(operation)]
    told = wrong(slice_of(can, TRIED), test)
    assert not told, "\n\n".join(told)


def test_every_boundary_and_wrong_method_of_an_operation_is_answered_as_its_schema_says(
    world: World, within_the_test: None
) -> None:
    def test(operation: Any) -> None:
        cases = api().iter_coverage_cases(
            operation, generation_modes=list(GenerationMode), generation_config=api().config.generation_for()
        )
        for number, case in enumerate(islice(cases, COVERED)):
            if not case.meta.is_negative_at(ParameterLocation.PATH):
                case.path_parameters.update(there(world, operation))
            ask(world, case, SCOPES[number % len(SCOPES)])

    told = wrong(operations(), test)
    assert not told, "\n\n".join(told)
