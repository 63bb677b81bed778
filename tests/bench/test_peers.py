"""Peers of `detect`: how what they say is judged."""

from bench.peers.comparison import OURS, Score, _judged
from bench.peers.suites import KnownSuite, known_suites
from bench.peers.tools import ROUNDS, _copies, _named
from bench.peers.workbench import Finding


def planted() -> KnownSuite:
    (suite,) = known_suites(0, 1)
    return suite


def test_partners_of_a_planted_suite_are_right_if_nothing_of_them_can_be_left_out() -> None:
    from bench.detection.planted import world_of
    from bench.peers.suites import SMALL

    suite, (world, _, _) = planted(), world_of(0, SMALL)
    for victim, groups in world.victims.items():
        group, cleaners = groups[0]
        assert suite.is_partner(victim, group)
        assert not suite.is_partner(victim, [*group, *cleaners, victim])
        assert not suite.is_partner(victim, group[1:])
    for brittle, setters in world.brittles.items():
        assert suite.is_partner(brittle, setters)
        assert not suite.is_partner(brittle, [brittle])
    assert suite.dependent == {*world.victims, *world.brittles}


def test_scores_tell_found_named_and_right_apart() -> None:
    suite = KnownSuite("x", frozenset("abc"), lambda test, tests: tests == ["p"], lambda folder: folder)
    score = Score()
    score.add(suite, Finding({"a": [["p"]], "b": [["p"], ["q"]], "c": [], "d": []}, seconds=3, executions=40), tests=20)
    assert (score.found, score.named, score.right, score.others, score.runs) == (3, 2, 1, 1, 2)


def test_the_best_peer_is_the_one_that_names_partners_and_all_of_them_are_to_be_beaten_in_what_they_find() -> None:
    scores = {
        OURS: Score(found=4, named=4, right=4, seconds=30, processor=20),
        "runs only": Score(found=5, seconds=1, processor=1),
        "names some": Score(found=3, named=3, right=2, seconds=80, processor=70),
    }
    missed = {outcome.what: outcome for outcome in _judged(scores, 5) if not outcome.good}
    assert list(missed) == ["order-dependent tests found by detect, of 5"]
    scores[OURS].seconds, scores[OURS].found, scores[OURS].right = 41, 5, 4
    assert sum(not outcome.good for outcome in _judged(scores, 5)) == 2


def test_copies_are_named_as_flakefinder_names_them() -> None:
    assert {"t.py::a[7]", "t.py::a[0]"} <= set(_copies("t.py::a"))
    assert {"t.py::a[x-7]", "t.py::a[7-x]"} <= set(_copies("t.py::a[x]"))
    assert len(set(_copies("t.py::a[x]"))) == 2 * ROUNDS


def test_partners_are_read_from_what_ipflakies_prints() -> None:
    printed = (
        "t.py::v is a victim.\n2 polluter(s) for t.py::v found:\n[1]  t.py::p[a b]\n[2]  t.py::q\n\n"
        "1 cleaner(s) found.\n[1]  t.py::c\n"
    )
    assert _named(printed) == ["t.py::p[a b]", "t.py::q"]
    assert _named("No polluter for t.py::v found.\n") == []
