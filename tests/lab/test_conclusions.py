"""From an experiment's end to findings and dependencies, and the life of a dependency."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics.lab.conclusions import Conclusion, experiment_conclude
from analytics.lab.dependencies import live
from analytics.lab.due import experiment_due
from analytics.lab.models import Dependency, ExperimentFinding
from analytics.lab.services import DependencyRefused, dependency_retire, dependency_state
from analytics.services import analysis_refresh
from ingest.lab.services import ExperimentConflict, experiment_finish
from ingest.models import Experiment, Project, Rename, Test
from ingest.renames import rename_decide
from tests.conftest import Send
from tests.lab.experiments import begin, junit, order_file, send_orders

P, V, C, N = (f"tests/test_{name}.py::test_{name}" for name in ("polluter", "victim", "cleaner", "new"))


def group(*tests: str, failed: int = 3, of: int = 3, cleaners: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"role": "polluter", "tests": list(tests), "cleaners": list(cleaners), "failed": failed, "of": of}


def victim(test: str = V, *groups: dict[str, Any], **values: Any) -> dict[str, Any]:
    alone = {"passed": 10, "of": 10}
    return {"test": test, "kind": "OD", "role": "victim", "alone": alone, "groups": list(groups), **values}


def finish(experiment: Experiment, *found: dict[str, Any], **values: Any) -> Conclusion:
    result = {"ended": "orders", "tests": 3, "found": list(found), **values}
    return experiment_conclude(experiment=experiment_finish(experiment=experiment, result=result))


def of(project: Project, key: str, days: int = 0, **values: Any) -> Experiment:
    """An experiment with one whole order, announced so many days ago."""
    experiment = begin(project, key, **values)
    send_orders(experiment, order_file(experiment, 1, [P, C, V]))
    Experiment.objects.filter(pk=experiment.pk).update(began_at=timezone.now() - timedelta(days=days))
    experiment.refresh_from_db()
    return experiment


def number(project: Project, reference: str) -> int:
    return Test.objects.get(project=project, name=reference.partition("::")[2]).number


def test_a_group_that_failed_each_time_is_a_shown_dependency(project: Project) -> None:
    conclusion = finish(of(project, "e1"), victim(V, group(P, cleaners=(C,))))
    (known,) = live(project)
    assert (known.ground, known.role, known.sign) == ("shown", "polluter", "negative")
    p, v, c = (number(project, name) for name in (P, V, C))
    assert (known.after, known.before, known.cleaners) == (v, (p,), (c,))
    assert known.row.counts == {"alone": {"passed": 10, "of": 10}, "together": {"failed": 3, "of": 3}}
    assert conclusion.new == conclusion.first_shown == [number(project, V)] and conclusion.unknown == []
    assert ExperimentFinding.objects.get().role == "victim"


def test_the_state_that_a_polluter_leaves_is_told_of_no_other_polluter(project: Project) -> None:
    told = {"state": [f"{P} leaves `TZ` set"], "fixture": "def reset(): ..."}
    finish(of(project, "e1"), victim(V, group(P), group(C), **told))
    first, other = sorted(live(project), key=lambda known: known.before != (number(project, P),))
    assert first.row is not None and other.row is not None
    assert {name: first.row.details.get(name) for name in told} == told
    assert not told.keys() & other.row.details.keys()


@pytest.mark.parametrize("counts", [{"failed": 2}, {"failed": 2, "of": 2}, {"failed": True}])
def test_what_was_not_confirmed_three_of_three_is_none(project: Project, counts: dict[str, Any]) -> None:
    finish(of(project, "e1"), victim(V, group(P, **counts)))
    assert live(project) == []


def test_a_brittle_counts_passes_behind_its_setter(project: Project) -> None:
    setter = {"role": "state-setter", "tests": [P], "passed": 3, "of": 3}
    finish(of(project, "e1"), victim(V, setter, role="brittle", alone={"passed": 0, "of": 10}))
    (known,) = live(project)
    assert (known.sign, known.row.counts["together"]) == ("positive", {"passed": 3, "of": 3})


def test_concluded_again_it_makes_nothing_twice(project: Project) -> None:
    experiment = of(project, "e1")
    finish(experiment, victim(V, group(P)))
    before = list(Dependency.objects.values()), list(ExperimentFinding.objects.values("number", "kind", "data"))
    again = finish(experiment, victim(V, group(P)))
    assert (
        list(Dependency.objects.values()),
        list(ExperimentFinding.objects.values("number", "kind", "data")),
    ) == before
    assert again.new == [number(project, V)], "asked again, the client hears the same"


def test_what_arrives_before_its_tests_is_named_and_concluded_later(project: Project) -> None:
    experiment = begin(project)
    conclusion = finish(experiment, victim(V, group(P)))
    assert conclusion.unknown == sorted([P, V]) and live(project) == []
    send_orders(experiment, order_file(experiment, 1, [P, V]))
    experiment.refresh_from_db()
    assert not experiment.concluded
    assert experiment_conclude(experiment=experiment).unknown == [] and len(live(project)) == 1


def test_a_later_experiment_renews_it(project: Project) -> None:
    first, second = of(project, "e1", days=9), of(project, "e2", days=1)
    finish(first, victim(V, group(P)))
    conclusion = finish(second, victim(V, group(P, cleaners=(C,))))
    (known,) = live(project)
    assert (known.row.first_experiment, known.row.last_experiment) == (first, second)
    assert known.cleaners == (number(project, C),) and conclusion.new == [] == conclusion.first_shown
    assert conclusion.known == [number(project, V)]


def test_a_newer_experiment_disproves_it_and_an_older_one_does_not(project: Project) -> None:
    shown, older, newer = of(project, "e2", days=5), of(project, "e1", days=9), of(project, "e3")
    finish(shown, victim(V, group(P)))
    disproved = {"test": V, "tests": [P], "failed": 0, "of": 3}
    for experiment, values in ((older, {}), (newer, {"failed": 1}), (newer, {"of": 2})):
        finish(experiment, disproved=[{**disproved, **values}])
        assert len(live(project)) == 1
    finish(newer, disproved=[disproved])
    assert live(project) == [] and Dependency.objects.get().retired_why == "Experiment e3 tried it: failed 0 of 3."


def test_what_a_person_retired_is_not_brought_back_by_the_same_experiment(project: Project) -> None:
    experiment = of(project, "e1", days=1)
    finish(experiment, victim(V, group(P)))
    assert dependency_retire(dependency=Dependency.objects.get(), why="fixed")
    finish(experiment, victim(V, group(P)))
    assert live(project) == []
    later = of(project, "e2")
    Experiment.objects.filter(pk=later.pk).update(began_at=timezone.now() + timedelta(minutes=1))
    later.refresh_from_db()
    finish(later, victim(V, group(P)))
    assert len(live(project)) == 1


def test_an_accepted_rename_carries_it_over(project: Project, send: Send) -> None:
    finish(of(project, "e1"), victim(V, group(P)))
    send(junit([P, N]), build_id="1")
    old, new = (Test.objects.get(project=project, number=number(project, name)) for name in (V, N))
    rename_decide(rename=Rename.objects.create(project=project, old=old, new=new, score=1), accept=True, user_id=None)
    assert [known.after for known in live(project)] == [new.number]
    finish(of(project, "e2"), victim(N, group(P)))
    assert Dependency.objects.count() == 1, "shown under its new name, it is the same"


def test_it_is_stale_so_many_commits_after_it_was_last_shown(project: Project, send: Send) -> None:
    Project.objects.filter(pk=project.pk).update(experiment_commits=3)
    project.refresh_from_db()
    finish(of(project, "e1", days=1), victim(V, group(P)))
    for commit in "ab":
        send(junit([P, V]), build_id=commit, commit=commit * 40, branch="main")
    send(junit([P, V]), build_id="again", commit="b" * 40, branch="main")
    send(junit([P, V]), build_id="elsewhere", commit="d" * 40, branch="topic")
    (known,) = live(project)
    assert (known.commits, known.stale) == (2, False)
    send(junit([P, V]), build_id="c", commit="c" * 40, branch="main")
    (known,) = live(project)
    assert (known.commits, known.stale) == (3, True)


def test_it_is_retired_when_a_test_is_gone_for_a_month(project: Project, send: Send) -> None:
    finish(of(project, "e1", days=80), victim(V, group(P)))
    now = timezone.now()
    for days, tests in ((60, [P, V]), (29, [P, V]), (1, [P])):
        send(junit(tests), build_id=str(days), started_at=now - timedelta(days=days))
    analysis_refresh(project=project)
    assert len(live(project)) == 1
    Dependency.objects.update(number=number(project, C))
    analysis_refresh(project=project)
    assert live(project) == []


# -- stated ------------------------------------------------------------------------------------------------------


def test_a_stated_dependency_is_refused_where_it_cannot_hold(project: Project, send: Send) -> None:
    send(junit([P, V, C]), build_id="1")
    p, v, c = (number(project, name) for name in (P, V, C))
    _, new = dependency_state(project=project, after=v, before=[p], positive=True, reason="by design")
    assert new and dependency_state(project=project, after=v, before=[p], positive=True)[1] is False
    dependency_state(project=project, after=p, before=[c], positive=True)
    for after, before, code in ((p, [p], "dependency_of_itself"), (c, [v], "dependency_cycle")):
        with pytest.raises(DependencyRefused) as refused:
            dependency_state(project=project, after=after, before=before, positive=True)
        assert refused.value.code == code
    dependency_state(project=project, after=c, before=[v], positive=False)
    assert [known.ground for known in live(project)] == ["stated"] * 3


# -- announced ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values", [{"protocol": "reruns"}, {"parameters": {"orders": 3}}, {"seed": "x"}, {"revision": {"commit": "b" * 40}}]
)
def test_another_experiment_under_one_key_is_a_conflict(project: Project, values: dict[str, Any]) -> None:
    first = begin(project, host="one")
    assert begin(project, host="two") == first
    first.refresh_from_db()
    assert first.hosts == ["one", "two"]
    with pytest.raises(ExperimentConflict):
        begin(project, **values)


def test_an_experiment_is_due_by_commits_or_days(project: Project, send: Send) -> None:
    assert (experiment_due(project).due, experiment_due(project).why) == (False, "no runs yet")
    send(junit([P, V]), build_id="1", commit="a" * 40)
    assert (experiment_due(project).due, experiment_due(project).why) == (True, "no whole experiment yet")
    finish(of(project, "part", whole=False))
    assert experiment_due(project).due
    finish(of(project, "broken"), ended="crash")
    assert experiment_due(project).due, "it looked at nothing"
    finish(of(project, "e1"))
    now = timezone.now()
    assert not experiment_due(project, now).due and experiment_due(project, now).last == "e1"
    for commit in "bc":
        send(junit([P, V]), build_id=commit, commit=commit * 40)
    due = experiment_due(project, now + timedelta(days=30))
    assert (due.due, due.commits, due.days) == (True, 2, 30)
    assert due.why == "2 commits and 30 days since the last whole experiment"
    assert not experiment_due(project, now + timedelta(days=29)).due
    project.experiment_commits = 2
    assert experiment_due(project, now).due
