"""The script itself, on histories that a person judges at a glance: what the real ones lack is tried here."""

from tests.truth.derive import conclude
from tests.truth.histories import History, Run


def history(commits: str, *, words: str = "", **timelines: str) -> History:
    """One letter of `commits` a run. A name ends with its class: `a_Basket` is Basket.a."""
    runs = [Run(f"run{place + 1:03}", letter, None) for place, letter in enumerate(commits)]
    named = {".".join(reversed(name.split("_"))): line for name, line in timelines.items()}
    said = {(test, place): words for test, line in named.items() for place, sign in enumerate(line) if sign in "FE"}
    return History("made", runs, named, said)


def states(made: History) -> dict[str, list[str]]:
    return {row["test"]: row["state"] for row in conclude(made)["ever_failed"]}


def test_a_bulk_of_the_suite_is_an_incident_and_a_standing_breakage_is_none() -> None:
    bulk = {f"t{number}_Class{number % 5}": "....F....." for number in range(12)}
    standing = {f"s{number}_Class{number % 5}": "FFFFFFFFFF" for number in range(12)}
    quiet = {f"q{number}_Quiet": ".........." for number in range(10)}
    found = conclude(history("aabbccddee", **bulk, **standing, **quiet))
    assert [(row["run"], row["why"]) for row in found["incidents"]] == [("run005", "bulk")]


def test_failures_that_name_the_environment_are_an_incident() -> None:
    few = {f"t{number}_Class{number}": "....F....." for number in range(3)}
    quiet = {f"q{number}_Quiet": ".........." for number in range(40)}
    refused = history("aabbccddee", words="ConnectionError: connection refused", **few, **quiet)
    assert [row["why"] for row in conclude(refused)["incidents"]] == ["environment"]
    assert conclude(history("aabbccddee", words="2 is not 3", **few, **quiet))["incidents"] == []


def test_what_begins_with_a_commit_and_lasts_is_a_regression_whatever_its_size() -> None:
    broken = {f"t{number}_Class{number % 5}": "...FFF...." for number in range(12)}
    found = conclude(history("abcdefghij", words="permission denied", **broken))
    assert found["incidents"] == []
    (regression,) = found["regressions"]
    assert (regression["since"], regression["mended"], len(regression["tests"])) == ("d", "g", 12)


def test_passes_and_then_only_failures_at_one_revision_are_a_breakage() -> None:
    assert states(history("aaaaaaaaaa", t_Class="......FFFF", u_Class="...F..FFFF", v_Class="FFFFFFFFFF")) == {
        "Class.t": ["broken"],
        "Class.u": ["flaky"],
        "Class.v": ["broken"],
    }


def test_only_a_later_revision_can_have_mended_a_flaky_test() -> None:
    assert states(history("aaaaaaaaaa", t_Class=".F........")) == {"Class.t": ["flaky"]}
    assert states(history("aaabbbbbbb", t_Class=".F........")) == {"Class.t": ["flaky", "recovered"]}
