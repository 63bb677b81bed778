"""Pages of the laboratory: Orders, experiments, what a test depends on, and what people state and retire."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analytics.lab.descriptions import sentence_of
from analytics.lab.models import Dependency
from analytics.lab.whole_orders import whole_orders
from analytics.services import analysis_refresh
from dashboard.demo.experiment import KEY, demo_experiment
from dashboard.demo.services import history
from dashboard.people.models import Role
from ingest.models import Experiment, ExperimentOrder, Project, Test
from ingest.services import project_create
from tests.conftest import send_files
from tests.furnished import FurnishedDatabases
from tests.lab.experiments import begin, junit, order_file, send_orders
from tests.lab.lent import Lent, project_or_lent
from tests.lab.test_conclusions import C, P, V, finish, group, number, victim
from tests.people.signed_in import browser_of, member
from tests.web.listing import queries_of, rows_of, source_of, words_of


@pytest.fixture
def reader(project: Project) -> Client:
    return browser_of(member(User.objects.create_user("mia"), project, Role.MAINTAINER))


@pytest.fixture
def latent(furnished_databases: FurnishedDatabases) -> Iterator[Lent]:
    with furnished_databases.lend("latent", _make) as made:
        yield made


@pytest.fixture
def project(request: pytest.FixtureRequest) -> Project:
    return project_or_lent(request, "latent")


@pytest.fixture
def experiment(latent: Lent, project: Project) -> Experiment:
    """CI never saw the victim fail; an experiment did, and knows why."""
    return Experiment.objects.get(project=project)


def _make() -> Lent:
    project = project_create(slug="shop", name="Shop")
    send_files(project, junit([V, C, P]), build_id="1", commit="b" * 40, branch="main")
    experiment = begin(project, host="ci-1", seed="it's", parameters={"command": ["pytest", "-q"], "orders": 3})
    send_orders(
        experiment,
        order_file(experiment, 0, [V, C, P]),
        order_file(experiment, 1, [P, V, C], [V], how="reverse-class-method"),
    )
    finish(experiment, victim(V, group(P, cleaners=(C,))), not_run=[{"test": "x::<b>", "why": "hangs"}])
    analysis_refresh(project=project)
    return Lent(project)


def at(project: Project, name: str, *arguments: object) -> str:
    return reverse(name, args=(project.slug, *arguments))


def test_the_orders_page_tells_shown_from_inferred(reader: Client, project: Project, experiment: Experiment) -> None:
    words = words_of(reader, at(project, "orders"))
    assert "1 test depends on the order: 1 shown by experiments; 1 has not failed in CI yet (latent)." in words
    assert "alone passes 10 of 10, after test_polluter fails 3 of 3" in words
    assert "pytest tests/test_polluter.py::test_polluter tests/test_victim.py::test_victim" in words
    assert "33.3 % (1/3) of random orders make it fail" in words and "seen: 1 of 2 known orders" in words
    assert "Saved by" in words and "order-dependent (latent)" in words
    assert "3 of 6 pairs of tests" in words, "both orders show one pair"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, 1),
        ({"ground": "shown"}, 1),
        ({"ground": "stated"}, 0),
        ({"ground": "inferred"}, 0),
        ({"role": "victim"}, 1),
        ({"role": "brittle"}, 0),
        ({"stale": "no"}, 1),
        ({"stale": "yes"}, 0),
        ({"kind": "OD"}, 1),
        ({"kind": "NDOI"}, 0),
        ({"q": "victim"}, 1),
        ({"q": "polluter"}, 0),
    ],
)
def test_orders_are_narrowed(
    reader: Client, project: Project, experiment: Experiment, query: dict[str, str], found: int
) -> None:
    rows = rows_of(reader, at(project, "orders"), **query)
    assert len(rows) == found
    assert all((row["ground"], row["kind"]) == ("shown", "OD") for row in rows)


def test_before_any_analysis_what_is_shown_is_there(reader: Client, project: Project) -> None:
    experiment = begin(project)
    send_orders(experiment, order_file(experiment, 1, [P, V], [V]))
    finish(experiment, victim(V, group(P)))
    assert "1 test depends on the order: 1 shown by experiments" in words_of(reader, at(project, "orders"))


def test_the_page_of_a_latent_test(reader: Client, project: Project, experiment: Experiment) -> None:
    words = words_of(reader, at(project, "test", number(project, V)))
    assert "stable" in words and "order-dependent (latent)" in words
    assert "It is a victim" in words and "5 random orders" not in words and "8 random orders show it with 95 %" in words
    assert "OD (victim): depends on the order" in words
    other = words_of(reader, at(project, "test", number(project, P)))
    assert "latent" not in other and "No experiment has shown" in other


def test_the_experiments_page(reader: Client, project: Project, experiment: Experiment) -> None:
    words = words_of(reader, at(project, "experiments"))
    assert "2 whole orders showed 1 order-dependent test." in words and "orders run on purpose" in words
    assert rows_of(reader, at(project, "experiments"))[0]["order_dependent"] == 1
    assert rows_of(reader, at(project, "experiments"), protocol="reruns") == []
    assert "No matching experiments." in words_of(reader, at(project, "experiments"), protocol="reruns")


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (0, "Nothing was found: no order of the whole suite was run."),
        (1, "Runs of parts of the suite showed 1 order-dependent test."),
    ],
)
def test_an_experiment_without_whole_orders(project: Project, found: int, sentence: str) -> None:
    experiment = begin(project)
    finish(experiment)
    experiment.refresh_from_db()
    experiment.counts = {"od": found, "orders": 0}
    assert sentence_of(experiment) == sentence


def test_without_experiments_the_page_says_what_to_do(reader: Client, project: Project) -> None:
    words = words_of(reader, at(project, "experiments"))
    assert "No experiment has been sent yet." in words and "flakeboard detect -- pytest tests/" in words


def test_one_experiment(reader: Client, project: Project, experiment: Experiment) -> None:
    page = source_of(reader, at(project, "experiment", "e1"))
    words = words_of(reader, at(project, "experiment", "e1"))
    assert "2 whole orders showed 1 order-dependent test." in words
    assert "try 1 original-order" in words and "round 1 reverse-class-method" in words
    assert "flakeboard detect --orders 3 --seed 'it'\"'\"'s' -- pytest -q" in words
    assert "hangs" in words and "<b>" not in page.split("Not looked at")[1].split("</section>")[0]
    assert reader.get(at(project, "experiment", "nothing")).status_code == 404


def test_queries_do_not_grow_with_orders(reader: Client, project: Project, experiment: Experiment) -> None:
    pages = ("experiment", "e1"), ("experiments",), ("orders",)
    before = [queries_of(reader, at(project, *page)) for page in pages]
    send_orders(experiment, *(order_file(experiment, at_, [C, P, V], [V], seed=at_) for at_ in range(2, 9)))
    for count in range(4):
        begin(project, f"more-{count}")
    assert [queries_of(reader, at(project, *page)) for page in pages] == before


def test_people_state_and_retire_dependencies(reader: Client, project: Project, experiment: Experiment) -> None:
    state = at(project, "dependency_state", number(project, C))
    for before, words in (
        (C, "cannot depend on itself"),
        ("tests/test_x.py::test_x", "No test of this project is called"),
        ("", "Name the other test by its node id"),
        (P, "The dependency is kept"),
    ):
        answer = reader.post(state, {"before": before, "sign": "positive", "reason": "by design"}, follow=True)
        assert words in answer.content.decode()
    stated = Dependency.objects.get(ground="stated")
    assert (stated.role, stated.stated_by.username) == ("state-setter", "mia")
    assert "Needs before it" in words_of(reader, at(project, "test", number(project, C)))
    shown = Dependency.objects.get(ground="shown")
    answer = reader.post(at(project, "dependency_retire", shown.pk), {"reason": "fixed"}, follow=True)
    assert "The dependency is retired" in answer.content.decode()
    shown.refresh_from_db()
    assert shown.retired_why == "fixed" and "is a victim" not in words_of(reader, at(project, "test", shown.number))


def test_settings_say_when_an_experiment_is_due(project: Project, experiment: Experiment) -> None:
    administrator = browser_of(member(User.objects.create_user("ada"), project, Role.ADMINISTRATOR))
    assert "An experiment is due" not in words_of(administrator, at(project, "project"))
    address = at(project, "project_experiments")
    answer = administrator.post(address, {"experiment_commits": 0, "experiment_days": 30})
    assert answer.status_code == 422
    Experiment.objects.update(ended_at="2026-01-01T00:00:00Z")
    administrator.post(address, {"experiment_commits": 7, "experiment_days": 5})
    project.refresh_from_db()
    assert (project.experiment_commits, project.experiment_days) == (7, 5)
    assert "An experiment is due: 1 commit and" in words_of(administrator, at(project, "project"))


def test_the_demo_has_an_experiment(project: Project, reader: Client) -> None:
    past = history(project.created_at)
    for _ in range(2):
        demo_experiment(project, past)
    demo = Experiment.objects.get(project=project, key=KEY)
    assert ExperimentOrder.objects.filter(experiment=demo).count() == 11 == demo.counts["orders"]
    assert demo.counts["od"] >= 1 and Dependency.objects.filter(ground="shown").count() >= 1
    assert not Test.in_ci.filter(project=project).exists()
    assert "order-dependent test" in words_of(reader, at(project, "experiment", KEY))


def test_a_test_that_ci_never_reported_says_that_experiments_know_it(reader: Client, project: Project) -> None:
    experiment = begin(project)
    send_orders(experiment, order_file(experiment, 0, [V, P]), order_file(experiment, 1, [P, V], [V]))
    finish(experiment, victim(V, group(P)))
    analysis_refresh(project=project)
    words = words_of(reader, at(project, "test", number(project, V)))
    assert "Shown to depend on the order by experiments; no report of CI that is kept speaks of it." in words
    assert "removed or renamed" not in words


def test_tries_come_before_rounds_as_they_ran(project: Project) -> None:
    experiment = begin(project)
    send_orders(experiment, *(order_file(experiment, round, [P, V]) for round in (2, -1, 0, 1)))
    assert [order.round for order in whole_orders(experiment)] == [0, -1, 1, 2]
