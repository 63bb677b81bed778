"""Experiments stay apart: with some of them (twenty in `make whole`) and without, everything else that the product says is
the same."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from analytics.lab.dependencies import live
from analytics.models import Analysis
from analytics.services import analysis_refresh
from dashboard.notify.experiments import conclude
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.policy.service import policy_apply
from ingest.lab.services import experiment_finish
from ingest.models import Experiment, Project, Report, Run, Test, Upload
from tests.access.conftest import committed, world
from tests.access.walking import Address, addresses, ask
from tests.access.world import World
from tests.dashboard.analysed import BEGAN, QUIET
from tests.extent import repeats, slice_of
from tests.lab.experiments import begin, send_orders

__all__ = ["committed", "world"]

EXPERIMENTS = repeats(2, 20)
OF_THE_LABORATORY = {
    *("orders", "experiments", "experiment", "api-orders", "api-experiments", "api-experiment"),
    *("api-experiments-due", "api-dependencies", "api-orders-next"),
}
"""The next order leaves out pairs of tests that experiments have shown."""
TRUE_OF_ALL = {"retention", "api-export"}
"""How much the disk holds, and the whole project as a file: with experiments there is more, and both say so."""
OF_EACH_TEST = ("test", "api-test", "api-rerun")
NEW = "only_in_experiments"
FAILED = {"quiet_03", "quiet_00", "flaky", NEW}
"""In every experiment."""
_IDS = 770_000_000
_MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"')
_DUE = re.compile(rb'<p class="fb-due">.*?</p>', re.DOTALL)
_DEPENDENCIES = re.compile(
    rb'<details class="card fb-section" id="dependencies".*?</details>\s*(?=<details class="card|</div>)', re.DOTALL
)
_LATENT = re.compile(
    rb'<span class="fb-label">order-dependent \(latent\)</span>.*?(?=<button type="button" class="btn btn-sm fb-copy")',
    re.DOTALL,
)
_OPEN = re.compile(rb'(<details class="card fb-section" id="[a-z]+") open')
"""One answer of a Test page is open: its dependencies where there are some, else another."""


@dataclass(frozen=True)
class Said:
    status: int
    content: bytes
    queries: int


def whole_order(key: str, round_: int, tests: list[str], failed: set[str]) -> bytes:
    """As the project's own reports, so that the tests are the same."""
    told = {"order": "executed", "experiment": key, "round": round_, "how": "random-class-method", "seed": "s"}
    properties = "".join(f"<property name='flakeboard.{name}' value='{value}'/>" for name, value in told.items())
    cases = "".join(
        f"<testcase classname='shop.{'cart' if name in QUIET else 'checkout'}' name='{name}' time='9'>"
        + ("<failure message='only here'>only here</failure>" if name in failed else "")
        + "</testcase>"
        for name in tests
    )
    return f"<testsuite name='shop'><properties>{properties}</properties>{cases}</testsuite>".encode()


def experiment(project: Project, number: int) -> None:
    """Stable, flaky and quarantined tests fail, in orders that CI has never seen, and one test is new."""
    key, tests = f"e{number}", [*reversed(QUIET), "victim", "polluter", "flaky", NEW]
    announced = begin(project, key, revision={"commit": f"{number:040x}", "branch": "main"})
    files = [whole_order(key, round_, tests[round_:] + tests[:round_], FAILED) for round_ in range(3)]
    upload = send_orders(announced, *files, at=BEGAN + timedelta(days=number + 1))
    assert upload.state == Upload.State.PROCESSED, upload.error
    found = {
        "test": "shop.cart::quiet_03",
        "kind": "OD",
        "role": "victim",
        "alone": {"passed": 10, "of": 10},
        "groups": [{"role": "polluter", "tests": ["shop.checkout::polluter"], "failed": 3, "of": 3}],
    }
    finished = experiment_finish(experiment=announced, result={"ended": "orders", "found": [found]})
    assert conclude(finished).unknown == []


def refreshed(project: Project) -> Analysis:
    """Analysed anew; its id, when that was and how long it took is none of what is compared."""
    with connection.cursor() as cursor:  # an id that nothing else has can be taken out of a page, and no id comes again
        cursor.execute(
            "SELECT setval('analytics_analysis_id_seq', greatest(nextval('analytics_analysis_id_seq'), %s))", [_IDS]
        )
    analysis = analysis_refresh(project=project)
    Analysis.objects.filter(pk=analysis.pk).update(started_at=_MOMENT, finished_at=_MOMENT, seconds=1.0)
    return analysis


def requests(project: Project) -> Iterator[tuple[str, Address, dict[str, int]]]:
    """Every address of the project that can be read, and of some every test: those that experiments tell of, and others."""
    tests = Test.objects.filter(project=project, seen_in_ci=True).order_by("number")
    named = set(tests.filter(name__in=FAILED | {"victim", "polluter"}).values_list("number", flat=True))
    others = tests.exclude(number__in=named).values_list("number", flat=True)
    numbers = sorted(named | set(slice_of(list(others), 2)))
    for address in addresses():
        if "slug" in address.parts and address.name not in OF_THE_LABORATORY | TRUE_OF_ALL:
            for number in numbers if address.name in OF_EACH_TEST else [None]:
                instead = {} if number is None else {"number": number}
                yield f"{address.name} {number or ''}", address, instead


def _reader(address: Address) -> str:
    return "upload" if address.route.startswith("api/") else "instance"


def said(world: World, project: Project, only: Collection[str] | None = None) -> dict[str, Said]:
    """What is answered by name of the request: to all of them, or to those alone."""
    analysis, answers = refreshed(project), {}
    for name, address, instead in requests(project):
        if only is not None and name not in only:
            continue
        who = _reader(address)
        with CaptureQueriesContext(connection) as queries:
            response = ask(world, address, "GET", who, **instead)
        content = getattr(response, "content", b"").replace(str(analysis.pk).encode(), b"N")
        for part in (_TOKEN, _DUE, _DEPENDENCIES, _LATENT):
            content = part.sub(b"", content)
        content = _OPEN.sub(rb"\1", content)
        answers[name] = Said(response.status_code, b" ".join(content.split()), len(queries))
    return answers


def decided(project: Project) -> list[object]:
    """What the gate answers to uploads, had they been red, and what the policy does."""
    answers: list[object] = []
    uploads = list(Upload.objects.filter(project=project, experiment=None).order_by("pk"))
    for upload in slice_of(uploads, 12):
        decision = gate_decide(decision=gate_ask(upload=upload, exit_code=1, runner="pytest"))
        answers.append((decision.passed, decision.sentence, decision.reasons, decision.notes, decision.failing))
    policy_apply(project_id=project.pk)
    return answers


@pytest.fixture
def shop(world: World) -> Project:
    """The project, with its newest uploads among the others, so that all of them are in the window."""
    project = Project.objects.get(slug="shop")
    newest = {"placed_at": BEGAN + timedelta(days=9)}
    later = Run.objects.filter(project=project, placed_at__gt=BEGAN + timedelta(days=60))
    assert Report.objects.filter(run__in=later).update(**newest) == later.update(**newest) == 2
    return project


def test_all_other_pages_answers_and_query_counts_are_the_same(world: World, shop: Project) -> None:
    """Who is asked for the first time in a process asks for more that is remembered then: with experiments first, and
    where the second answer took another number of queries, with them once more."""
    with transaction.atomic():
        after = _said_with_experiments(world, shop)
        transaction.set_rollback(True)
    with transaction.atomic():
        before = said(world, shop)
        transaction.set_rollback(True)
    assert set(after) == set(before)
    after |= _said_with_experiments(
        world, shop, {name for name in before if before[name].queries != after[name].queries}
    )
    assert {name: after[name].status for name in after} == {name: before[name].status for name in before}
    assert [name for name in before if before[name].content != after[name].content] == []
    more = {name: (before[name].queries, after[name].queries) for name in before}
    lab = {f"test {number}" for number in _tests_of_experiments(shop)}
    assert {name: counts for name, counts in more.items() if counts[0] != counts[1] and name not in lab} == {}
    assert len(before) > 60 and sum(len(one.content) for one in before.values()) > 500_000


def _said_with_experiments(world: World, shop: Project, only: Collection[str] | None = None) -> dict[str, Said]:
    for number in range(EXPERIMENTS):
        experiment(shop, number)
    return said(world, shop, only)


def _tests_of_experiments(shop: Project) -> list[int]:
    """Tests whose own page has something of the laboratory to show, and asks for it."""
    return [Test.objects.get(project=shop, name="quiet_03").number]


def test_gate_and_policy_decide_the_same(world: World, shop: Project) -> None:
    with transaction.atomic():
        refreshed(shop)
        before = decided(shop)
        transaction.set_rollback(True)
    for number in range(repeats(2, 3)):
        experiment(shop, number)
    refreshed(shop)
    assert decided(shop) == before != []


def test_the_experiments_were_there_and_were_seen(world: World, shop: Project) -> None:
    """Or the comparison would compare nothing."""
    experiment(shop, 1)
    refreshed(shop)
    assert Experiment.objects.filter(project=shop).count() == 2
    assert Report.all_objects.filter(project=shop).count() == Report.objects.filter(project=shop).count() + 3
    assert [known.ground for known in live(shop)] == ["stated", "shown"] or len(live(shop)) == 2
    number = Test.objects.get(project=shop, name="quiet_03").number
    page = next(address for address in addresses() if address.name == "test")
    assert b"order-dependent (latent)" in ask(world, page, "GET", "instance", number=number).content
    assert not Test.in_ci.filter(project=shop, name=NEW).exists() and Test.objects.filter(name=NEW).exists()
