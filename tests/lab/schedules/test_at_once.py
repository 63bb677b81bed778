"""Shards that ask at the same moment, while results arrive: their union is the suite, each test once (C3)."""

import random
import threading
from typing import Any

import pytest
from django.db import connection

from analytics.lab.schedules import scheduler, splits
from analytics.lab.schedules.models import Split
from ingest.metadata import RunMetadata
from ingest.models import Project
from ingest.processing import upload_process
from ingest.services import project_create, token_create, upload_receive
from tests.api_client import Program
from tests.at_once import at_once
from tests.conftest import body_of
from tests.lab.schedules.suites import Names, document, names_of, part, shard

SHARDS = 16


@pytest.fixture
def shop(transactional_db: None) -> Project:
    return project_create(slug="shop", name="Shop")


def upload(project: Project, names: Names, build: str, seed: int) -> None:
    """Results that would split otherwise."""
    seconds = {name: random.Random(f"{seed} {name}").uniform(0.1, 30) for _, name, _ in names}
    body = body_of(document(names, seconds=seconds))
    received, _ = upload_receive(project=project, body=body, metadata=RunMetadata(build_id=build))
    upload_process(upload_id=received.pk)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(3))
def test_sixteen_shards_at_once_run_every_test_once(shop: Project, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    computed, compute = [], scheduler._new_split
    monkeypatch.setattr(scheduler, "_new_split", lambda *given: computed.append(given) or compute(*given))
    token = token_create(project=shop, name="ci", scope="upload")[1]
    names = names_of(120)
    odd = random.Random(seed).randrange(SHARDS)
    collected = [
        [*names, ["tests.new", "test_only_here", "tests/new.py"]] if index == odd else names for index in range(SHARDS)
    ]
    upload(shop, names, "before", seed)

    def ask(index: int) -> list[str]:
        return part(shard(Program(token), collected[index], index + 1, SHARDS), collected[index], index + 1)

    jobs = [lambda index=index: ask(index) for index in range(SHARDS) if index != odd]
    uploads = [lambda place=place: upload(shop, names, f"between {place}", seed + place) for place in range(2)]
    results = at_once(*jobs, *uploads)
    errors = [result for result in results if isinstance(result, Exception)]
    assert errors == []
    # It asks when the split is made: what only the first one collects could be given to a shard that lacks it.
    results.insert(odd, ask(odd))
    ran = [name for tests in results[:SHARDS] for name in tests]
    assert sorted(ran) == sorted({name for tests in collected for _, name, _ in tests})
    assert (Split.objects.count(), len(computed)) == (1, 1)
    retried = random.Random(seed).randrange(SHARDS)
    assert ask(retried) == results[retried]


@pytest.mark.django_db(transaction=True)
def test_a_shard_that_waits_too_long_for_another_asks_without_it(shop: Project) -> None:
    token = token_create(project=shop, name="ci", scope="upload")[1]
    held, answered = threading.Event(), threading.Event()

    def hold() -> None:
        with splits.alone(shop, splits.SplitKey("77", "test", SHARDS)):
            held.set()
            answered.wait()

    def ask() -> Any:
        held.wait()
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '50ms'")
            return shard(Program(token), names_of(120), 1, SHARDS)
        finally:
            answered.set()

    assert sum(map(len, at_once(hold, ask)[1]["shards"])) == 120
