"""What a policy does, without a database: never the wrong test, never more than the cap."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.kernel.flakiness import State as Concluded
from dashboard.quarantine.policy.plan import Candidate, Moment, NewestQuarantine, Plan, _why, cap_of, fits, plan
from dashboard.quarantine.policy.settings import DEFAULTS, BadSettings, Group, PolicyMode, PolicySettings
from dashboard.quarantine.states import LIVE, Action, State

NOW = datetime(2026, 6, 1, tzinfo=UTC)
AT_ONCE = replace(DEFAULTS, mode=PolicyMode.QUARANTINE)
FLAKY = Candidate(
    number=1,
    state=Concluded.FLAKY,
    evidence=3,
    failed=4,
    executed=100,
    low=0.01,
    default_failures=2,
    blocked=2,
    cost=10.0,
    flaky_since=NOW - timedelta(days=9),
    last_flaked=NOW - timedelta(days=1),
    needed=120,
)


def planned(
    *candidates: Candidate, held: tuple[NewestQuarantine, ...] = (), settings: PolicySettings = AT_ONCE, **moment
) -> Plan:
    return plan(settings, Moment(NOW, **({"suite": 1_000} | moment)), candidates, held)


def steps(*candidates: Candidate, **options) -> list[tuple[str, tuple[int, ...]]]:
    return [(step.action.value, step.numbers) for step in planned(*candidates, **options).steps]


def test_a_flaky_test_that_blocks_is_quarantined_or_proposed_as_the_mode_says() -> None:
    assert steps(FLAKY) == [("quarantine", (1,))]
    assert steps(FLAKY, settings=DEFAULTS) == [("propose", (1,))]
    assert steps(FLAKY, settings=replace(DEFAULTS, mode=PolicyMode.OFF)) == []
    step = planned(FLAKY).steps[0]
    assert step.needed == 120
    assert step.reason == (
        "It passed and failed on the same code 3 times, failed 4 of 100 runs (at least 1 %) and blocked 2 runs."
    )


@pytest.mark.parametrize("state", [state for state in Concluded if state is not Concluded.FLAKY])
def test_no_state_but_flaky_is_ever_quarantined(state: Concluded) -> None:
    assert steps(replace(FLAKY, state=state)) == []


@pytest.mark.parametrize(
    ("weaker", "settings"),
    [
        ({"evidence": 1}, AT_ONCE),
        ({"blocked": 0}, AT_ONCE),
        ({"default_failures": 0}, AT_ONCE),
        ({"flaky_since": None}, AT_ONCE),
        ({"low": 0.01}, replace(AT_ONCE, least_rate=0.02)),
        ({"flaky_since": NOW - timedelta(days=3)}, replace(AT_ONCE, least_age_days=4)),
    ],
)
def test_every_condition_must_be_met(weaker: dict, settings: PolicySettings) -> None:
    assert steps(replace(FLAKY, **weaker), settings=settings) == []


def test_it_says_why_flaky_tests_are_left_alone() -> None:
    quiet = [replace(FLAKY, number=number, blocked=0) for number in (2, 3)]
    stable = replace(FLAKY, number=4, state=Concluded.STABLE)
    said = planned(FLAKY, *quiet, replace(FLAKY, number=5, evidence=1), stable).left_out_sentence
    assert said == "Flaky tests that it leaves alone: 2 (blocked too few runs), 1 (too little evidence)."
    assert planned(FLAKY).left_out_sentence == ""


def test_nothing_new_while_an_incident_is_on_but_what_is_clean_may_leave() -> None:
    clean = NewestQuarantine(5, State.ACTIVE, (2,), enough=True)
    told = planned(FLAKY, held=(clean,), incident=True)
    assert told.paused
    assert [step.action for step in told.steps] == [Action.RELEASE]


def test_past_the_cap_it_shouts_and_the_dearest_come_first() -> None:
    some = [replace(FLAKY, number=number, cost=float(number)) for number in range(30)]
    told = planned(*some, suite=100)
    assert [step.numbers[0] for step in told.steps] == [29, 28, 27, 26, 25]
    assert len(told.over) == 25
    assert planned(*some, suite=10_000, settings=replace(AT_ONCE, most_tests=7)).cap == 7


@pytest.mark.parametrize(
    "dearer",
    [{"cost": 11.0}, {"blocked": 3}, {"low": 0.02}, {"number": 0}],
    ids=["costs more", "blocked more", "fails more", "is older"],
)
def test_who_is_first_under_the_cap(dearer: dict) -> None:
    cheaper = replace(FLAKY, number=1)
    wanted = replace(FLAKY, **({"number": 2} | dearer))
    told = planned(cheaper, wanted, suite=10)
    assert ([step.numbers for step in told.steps], told.over) == ([(wanted.number,)], (1,))
    assert not told.paused


def test_what_is_not_known_of_a_test_speaks_for_nothing() -> None:
    """An analysis that says no more than "flaky" meets no condition, and the sentence counts nothing."""
    bare = Candidate(1, Concluded.FLAKY)
    for known, least in (
        ("evidence", "least_evidence"),
        ("low", "least_rate"),
        ("blocked", "least_blocked"),
        ("default_failures", "least_default_failures"),
    ):
        assert not fits(replace(DEFAULTS, **{least: 1}), replace(FLAKY, **{known: getattr(bare, known)}), NOW)
    assert _why(bare) == (
        "It passed and failed on the same code 0 times, failed 0 of 0 runs (at least 0 %) and blocked 0 runs."
    )
    assert (bare.cost, bare.clean) == (0, 0)
    unclean = NewestQuarantine(5, State.ACTIVE, (1,))
    assert steps(FLAKY, held=(unclean,)) == []
    assert steps(replace(FLAKY, state=Concluded.BROKEN), held=(unclean,)) == []


def test_what_is_live_counts_against_the_cap_and_what_leaves_does_not() -> None:
    live = tuple(NewestQuarantine(n, State.ACTIVE, (100 + n,)) for n in range(5))
    assert planned(FLAKY, held=live, suite=100).over == (1,)
    leaving = (replace(live[0], enough=True), *live[1:])
    assert steps(FLAKY, held=leaving, suite=100) == [("release", (100,)), ("quarantine", (1,))]


def test_a_small_suite_may_have_one() -> None:
    assert (cap_of(DEFAULTS, 3), cap_of(DEFAULTS, 0), cap_of(replace(DEFAULTS, most_tests=0), 3)) == (1, 1, 0)


@pytest.mark.parametrize("state", sorted(LIVE))
def test_what_is_live_is_left_alone(state: State) -> None:
    assert steps(FLAKY, held=(NewestQuarantine(5, State(state), (1,)),)) == []


@pytest.mark.parametrize("state", [State.RELEASED, State.FIXED])
def test_what_flakes_again_is_reopened_and_only_then(state: State) -> None:
    before, after = (NewestQuarantine(5, state, (1,), ended_at=NOW - timedelta(days=days)) for days in (0.5, 2))
    assert steps(FLAKY, held=(after,)) == [("reopen", (1,))]
    assert steps(FLAKY, held=(before,)) == []
    assert steps(FLAKY, held=(after,), settings=replace(AT_ONCE, reopen=False)) == []
    assert steps(replace(FLAKY, state=Concluded.BROKEN), held=(after,)) == []


@pytest.mark.parametrize("state", [State.RELEASED, State.FIXED])
def test_what_was_let_go_is_reopened_and_never_begun_anew(state: State) -> None:
    ended = NewestQuarantine(5, state, (1,), by_people=False, ended_at=NOW - timedelta(days=90))
    assert steps(FLAKY, held=(ended,), settings=replace(AT_ONCE, reopen=False)) == []
    assert steps(FLAKY, held=(ended,)) == [("reopen", (1,))]
    assert steps(FLAKY, held=(replace(ended, ended_at=FLAKY.last_flaked),)) == []  # the flake that it ended with


def test_tests_of_which_one_is_broken_are_not_reopened() -> None:
    ended = NewestQuarantine(5, State.RELEASED, (1, 2), ended_at=NOW - timedelta(days=2))
    for state, expected in ((Concluded.BROKEN, []), (Concluded.FLAKY, [("reopen", (1, 2))])):
        assert steps(FLAKY, replace(FLAKY, number=2, state=state), held=(ended,)) == expected


@pytest.mark.parametrize("state", [state for state in State if state is not State.ACTIVE])
def test_only_what_is_active_is_released(state: State) -> None:
    held = NewestQuarantine(5, state, (1,), enough=True, ended_at=NOW)
    assert steps(FLAKY, held=(held,)) == []
    broken = steps(replace(FLAKY, state=Concluded.BROKEN), held=(replace(held, by_policy=True),))
    assert broken == ([("reject", (1,))] if state is State.PROPOSED else [])


@pytest.mark.parametrize("state", [State.EXPIRED, State.REJECTED])
def test_what_people_let_go_is_left_alone_for_a_while(state: State) -> None:
    ended = NewestQuarantine(5, state, (1,), ended_at=NOW - timedelta(days=29))
    assert steps(FLAKY, held=(ended,)) == []
    assert steps(FLAKY, held=(replace(ended, ended_at=NOW - timedelta(days=31)),)) == [("quarantine", (1,))]
    assert steps(FLAKY, held=(replace(ended, ended_at=NOW - timedelta(days=30)),)) == [("quarantine", (1,))]
    assert steps(FLAKY, held=(replace(ended, by_people=False),)) == [("quarantine", (1,))]


def test_clean_long_enough_is_released_unless_the_policy_leaves_that_to_people() -> None:
    clean = NewestQuarantine(5, State.ACTIVE, (1, 2), enough=True)
    assert steps(held=(clean,)) == [("release", (1, 2))]
    assert steps(held=(clean,), settings=replace(AT_ONCE, release=False)) == []


def test_a_policys_quarantine_of_a_test_that_broke_is_released_and_somebodys_is_not() -> None:
    broken, held = replace(FLAKY, state=Concluded.BROKEN), NewestQuarantine(5, State.ACTIVE, (1,), by_policy=True)
    assert steps(broken, held=(held,)) == [("release", (1,))]
    assert steps(broken, held=(replace(held, by_policy=False),)) == []


def test_a_proposal_of_the_policy_is_taken_back_when_the_test_is_something_else() -> None:
    proposed = NewestQuarantine(5, State.PROPOSED, (1,), by_policy=True)
    assert steps(replace(FLAKY, state=Concluded.BROKEN), held=(proposed,)) == [("reject", (1,))]
    assert steps(held=(proposed,)) == [("reject", (1,))]
    assert steps(replace(FLAKY, state=Concluded.BROKEN), held=(replace(proposed, by_policy=False),)) == []


_CANDIDATES = st.lists(
    st.builds(
        Candidate,
        number=st.integers(0, 12),
        state=st.sampled_from(Concluded),
        evidence=st.integers(0, 5),
        low=st.floats(0, 1),
        default_failures=st.integers(0, 2),
        blocked=st.integers(0, 3),
        cost=st.floats(0, 100),
        flaky_since=st.sampled_from([None, NOW - timedelta(days=5)]),
        last_flaked=st.sampled_from([None, NOW - timedelta(days=1)]),
    ),
    unique_by=lambda build: build.number,
)
_HELD = st.lists(
    st.builds(
        NewestQuarantine,
        id=st.integers(0, 10**6),
        state=st.sampled_from(State),
        numbers=st.tuples(st.integers(0, 12)),
        by_policy=st.booleans(),
        enough=st.booleans(),
        ended_at=st.sampled_from([None, NOW - timedelta(days=2), NOW - timedelta(days=60)]),
        by_people=st.booleans(),
    ),
    unique_by=(lambda one: one.numbers, lambda one: one.id),
)
_SETTINGS = st.builds(
    PolicySettings,
    mode=st.sampled_from(PolicyMode),
    least_evidence=st.integers(1, 3),
    most_tests=st.integers(0, 5),
    most_share=st.floats(0, 1),
    release=st.booleans(),
    reopen=st.booleans(),
)


@given(_SETTINGS, _CANDIDATES, _HELD, st.booleans(), st.integers(0, 100))
def test_whatever_is_held_the_rules_hold(settings, candidates, held, incident: bool, suite: int) -> None:
    told = plan(settings, Moment(NOW, suite, incident), candidates, held)
    state_of = {candidate.number: candidate.state for candidate in candidates}
    comes = [step for step in told.steps if step.action in (Action.PROPOSE, Action.QUARANTINE, Action.REOPEN)]
    assert all(state_of[number] is Concluded.FLAKY for step in comes for number in step.numbers)
    assert not (incident and comes)
    assert settings.mode is not PolicyMode.OFF or not told.steps
    leaves = {step.quarantine for step in told.steps if step.action in (Action.RELEASE, Action.REJECT)}
    live = {number for one in held if one.state in LIVE and one.id not in leaves for number in one.numbers}
    added = [number for step in comes for number in step.numbers]
    assert len(live) + len(added) <= max(told.cap, len(live))
    assert len(set(added)) == len(added) and not set(added) & live
    assert all(
        fits(settings, candidate, NOW)
        for candidate in candidates
        if any(s.quarantine is None and s.numbers == (candidate.number,) for s in comes)
    )


# -- settings ----------------------------------------------------------------------------------------------------


def test_settings_survive_storing() -> None:
    settings = replace(AT_ONCE, least_rate=0.25, exit_codes={"other": (3, 4)})
    assert PolicySettings.from_json(settings.as_json()) == settings
    assert PolicySettings.from_json({}) == DEFAULTS


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "always"}, {"mode": ["off"]}, {"least_rate": 2}, {"least_rate": float("nan")}, {"days": 0}, {"days": 1.5},
        {"days": True}, {"release": 1}, {"colour": 1}, {"most_share": "5 %"}, {"exit_codes": {"x": [0]}},
        {"exit_codes": {"x": [137]}}, {"exit_codes": {"x": 1}}, {"exit_codes": [1]}, {"missing_share": 1},
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused_with_a_sentence(wrong: dict) -> None:
    with pytest.raises(BadSettings) as told:
        PolicySettings.from_json(wrong)
    assert next(iter(wrong)) in told.value.sentence


@pytest.mark.parametrize(
    ("setting", "field", "least", "step"),
    [
        ("least_evidence", "evidence", 3, 1),
        ("least_rate", "low", 0.5, 0.001),
        ("least_blocked", "blocked", 3, 1),
        ("least_default_failures", "default_failures", 3, 1),
    ],
)
def test_a_condition_that_is_just_met_is_met(setting: str, field: str, least: float, step: float) -> None:
    """And one that is missed by the least is not."""
    begun = NOW - timedelta(days=DEFAULTS.least_age_days)
    meeting = replace(FLAKY, evidence=9, low=0.9, blocked=9, default_failures=9, flaky_since=begun)
    settings = replace(DEFAULTS, **{setting: least})
    assert fits(settings, replace(meeting, **{field: least}), NOW)
    assert not fits(settings, replace(meeting, **{field: least - step}), NOW)
    assert not fits(settings, replace(meeting, flaky_since=begun + timedelta(seconds=1)), NOW)


def test_why_says_how_many_runs_were_blocked() -> None:
    single, several = (_why(replace(FLAKY, blocked=blocked)) for blocked in (1, 1_200))
    assert single.endswith("blocked 1 run.") and several.endswith("blocked 1,200 runs.")


# -- one problem, one quarantine ---------------------------------------------------------------------------------

TOGETHER = replace(AT_ONCE, group=Group.TOGETHER)


def related(number: int, together: int | None = 1, **changes: object) -> Candidate:
    return replace(FLAKY, number=number, together=together, signature=7, **changes)


def test_a_cluster_is_one_quarantine_and_each_of_its_tests_counts_for_the_cap() -> None:
    alone = replace(FLAKY, number=9, cost=5.0)
    cluster = [related(3), related(1, needed=300), related(2)]
    assert steps(*cluster, alone, settings=TOGETHER) == [("quarantine", (1, 2, 3)), ("quarantine", (9,))]
    step = planned(*cluster, settings=TOGETHER).steps[0]
    assert (step.cluster, step.needed) == (1, 300), "it is well when the test with the rarest failures is"
    assert step.reason.startswith(
        "3 tests with related failures, one problem: they passed and failed on the same code 9"
    )
    small = replace(TOGETHER, most_tests=2)
    told = planned(*cluster, alone, settings=small)
    assert [step.numbers for step in told.steps] == [(9,)] and told.over == (1, 2, 3)


def test_without_a_group_each_test_is_by_itself() -> None:
    told = planned(related(1), related(2))
    assert [(step.numbers, step.cluster) for step in told.steps] == [((1,), None), ((2,), None)]


def test_tests_that_share_a_message_are_one_only_where_the_policy_says_so() -> None:
    words = replace(AT_ONCE, group=Group.SIGNATURE)
    assert steps(related(1, 1), related(2, 2), settings=words) == [("quarantine", (1, 2))]
    assert steps(related(1, 1), related(2, 2), settings=TOGETHER) == [("quarantine", (1,)), ("quarantine", (2,))]


def test_of_a_cluster_only_tests_that_fit_are_quarantined() -> None:
    told = planned(
        related(1), related(2), related(3, state=Concluded.BROKEN), related(4, evidence=1), settings=TOGETHER
    )
    assert [step.numbers for step in told.steps] == [(1, 2)]
    lonely = planned(related(1), related(3, state=Concluded.SUSPECT), settings=TOGETHER)
    assert [(step.numbers, step.cluster) for step in lonely.steps] == [((1,), None)]


def test_a_cluster_that_nobody_can_judge_as_one_is_not() -> None:
    everybody = replace(TOGETHER, most_tests=1_000, most_share=1.0)
    fifty = planned(*(related(number) for number in range(50)), settings=everybody)
    assert [len(step.numbers) for step in fifty.steps] == [50]
    more = planned(*(related(number) for number in range(51)), settings=everybody)
    assert [len(step.numbers) for step in more.steps] == [1] * 51


def test_one_number_that_is_unknown_leaves_the_cluster_without() -> None:
    assert planned(related(1), related(2, needed=None), settings=TOGETHER).steps[0].needed is None


@pytest.mark.parametrize("wrong", [{"group": "all"}, {"group": True}, {"ticket": 1}, {"resolve": "no"}])
def test_settings_of_groups_and_tickets_are_checked(wrong: dict) -> None:
    with pytest.raises(BadSettings):
        PolicySettings.from_json(wrong)
