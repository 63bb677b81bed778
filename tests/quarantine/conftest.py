"""A project with a token of each scope, one that is analysed, and a worker that processes at once."""

from collections.abc import Callable
from functools import partial

import pytest

from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import Actor, Terms, quarantine_create
from dashboard.quarantine.states import Action, ActorKind
from ingest.models import Project, Test, Token
from ingest.services import token_create
from tests.api_client import Program
from tests.dashboard.analysed import Analysed
from tests.dashboard.conftest import committed, shop
from tests.dashboard.openapi import Schema

__all__ = ["committed", "shop"]

ANNA = Actor(ActorKind.PERSON, "anna")
BEN = Actor(ActorKind.PERSON, "ben")


def case(name: str, verdict: str = "", classname: str = "tests.cart") -> str:
    inside = {"fail": "<failure message='no'>no</failure>", "error": "<error message='no'/>", "skip": "<skipped/>"}
    return f"<testcase classname='{classname}' name='{name}' time='0.1'>{inside.get(verdict, '')}</testcase>"


def suite(*cases: str) -> bytes:
    """A report as pytest writes it: its order is the order of execution."""
    return f"<testsuites><testsuite name='pytest'>{''.join(cases)}</testsuite></testsuites>".encode()


def report(tests: int = 20, **verdicts: str) -> bytes:
    """`test_00` and so on, all passing besides those that are named."""
    names = [f"test_{number:02}" for number in range(tests)]
    named = {name: verdict for name, verdict in verdicts.items() if name in names}
    others = [case(name, verdict) for name, verdict in verdicts.items() if name not in names]
    return suite(*others, *(case(name, named.get(name, "")) for name in names))


@pytest.fixture
def quarantine_token(project: Project) -> str:
    return token_create(project=project, name="bot", scope=Token.Scope.QUARANTINE)[1]


@pytest.fixture
def bot(shop: Analysed) -> Program:
    """A program that may quarantine in the analysed project."""
    return Program(token_create(project=shop.project, name="bot", scope=Token.Scope.QUARANTINE)[1])


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema()


Quarantined = Callable[..., object]


def quarantine_of(
    project: Project, *names: str, action: Action = Action.QUARANTINE, actor: Actor = ANNA, **terms: object
) -> Quarantine:
    tests = list(Test.objects.filter(project=project, name__in=names))
    assert len(tests) == len(names)
    return quarantine_create(project=project, tests=tests, actor=actor, terms=Terms(**terms), action=action)


@pytest.fixture
def quarantined(project: Project) -> Quarantined:
    """quarantined("test_01"): an active quarantine of the test, by Anna."""
    return partial(quarantine_of, project)
