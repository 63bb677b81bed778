"""What detect answers where it cannot do its work, or not all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.detect.commands import PYTEST, Command
from tests.lab.detect.worlds import World, suite, write_project

FEW = ("--orders", "1", "--minimize", "no", "--no-upload")
TESTS = suite(2, 3)


@pytest.mark.parametrize(
    "command", [("make", "test"), ("./run-tests.sh",), ("tox",), ()], ids=["make", "script", "tox", "nothing"]
)
def test_a_command_that_hides_its_runner_is_refused(detect: Command, command: tuple[str, ...]) -> None:
    call = detect(command=command)
    assert call.code == 2
    assert "detect needs the command that starts pytest itself" in call.printed or not command
    assert detect.journals == []


@pytest.mark.parametrize("command", [("npx", "playwright", "test"), ("gotestsum",)], ids=lambda words: words[0])
def test_a_runner_without_a_seed_is_refused(detect: Command, command: tuple[str, ...]) -> None:
    call = detect(command=command)
    assert call.code == 2
    assert "by their own seeds those of go, rspec, jest, vitest, maven" in call.printed


@pytest.mark.parametrize(
    "options",
    [("--how", "reverse-class"), ("--changed-since", "main"), ("--protocol", "reruns"), ("--fresh", "fork")],
    ids=lambda words: words[0],
)
def test_orders_of_ones_own_are_for_pytest(detect: Command, options: tuple[str, ...]) -> None:
    call = detect(*options, command=("go", "test", "./..."))
    assert call.code == 2
    assert f"{options[0]} is for pytest alone" in call.printed
    assert detect.journals == []


def test_a_file_that_cannot_be_collected_is_named(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    (detect.folder / "test_broken.py").write_text("import nothing_of_that_name\n")
    call = detect(*FEW)
    assert call.code == 1
    assert "test_broken.py" in call.printed and "nothing_of_that_name" in call.printed


def test_one_test_has_no_order(detect: Command) -> None:
    write_project(World(TESTS[:1]), detect.folder)
    call = detect(*FEW)
    assert call.code == 1
    assert "there is no order of fewer than two tests" in call.printed


def test_options_that_pytest_does_not_know_are_told_in_its_words(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    call = detect(*FEW, command=(*PYTEST, "--no-such-option"))
    assert call.code == 1
    assert "--no-such-option" in call.printed


UNSTABLE = """
import uuid
import pytest

@pytest.mark.parametrize("name", [uuid.uuid4().hex])
def test_unstable(name):
    pass
"""


def test_ids_that_differ_between_collections_are_named_and_left_out(detect: Command) -> None:
    write_project(World(suite(5, 5)), detect.folder)
    (detect.folder / "test_unstable.py").write_text(UNSTABLE)
    call = detect(*FEW)
    assert call.code == 0
    assert call.told["tests"] == 25
    assert [each["why"] for each in call.told["not_run"]] == ["its id differs between two collections"] * 2


def test_too_many_ids_that_differ_are_refused(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    (detect.folder / "test_unstable.py").write_text(UNSTABLE)
    call = detect(*FEW)
    assert call.code == 1
    assert "2 of 8 test ids differ between two collections" in call.printed


def test_ids_that_occur_twice_count_once_and_are_told(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    (detect.folder / "conftest.py").write_text(
        "def pytest_collection_modifyitems(items):\n    items.append(items[0])\n"
    )
    call = detect(*FEW)
    assert call.told["tests"] == len(TESTS)
    assert call.told["not_run"] == [{"test": TESTS[0], "why": "is collected twice; the first one counts"}]


def test_an_original_order_that_ends_differently_under_fork_runs_in_processes(detect: Command) -> None:
    (detect.folder / "test_fork.py").write_text(
        "import os\nHERE = os.getpid()\ndef test_same():\n    assert os.getpid() == HERE\ndef test_other():\n    pass\n"
    )
    call = detect(*FEW)
    assert call.code == 0
    assert "each order runs in a new process: tests end differently under fork: test_fork.py::test_same" in call.printed
    assert call.told["found"] == []


def test_threads_that_are_alive_after_collection_forbid_to_fork(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    (detect.folder / "conftest.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    call = detect(*FEW)
    assert (call.code, "2 threads are alive after collection" in call.printed) == (0, True)
    call = detect(*FEW, "--fresh", "fork")
    assert (call.code, "--fresh fork cannot be used" in call.printed) == (1, True)


def test_a_budget_below_one_run_is_refused(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    call = detect(*FEW, "--budget", "0.001")
    assert call.code == 1
    assert "the budget of 0 s leaves no time for another order" in call.printed


def test_a_test_that_kills_the_process_is_named_and_left_out(detect: Command) -> None:
    write_project(World(TESTS, crashes=[TESTS[3]]).victim(TESTS[0], TESTS[5]), detect.folder)
    call = detect(*FEW)
    assert call.code == 0
    assert call.told["not_run"] == [{"test": TESTS[3], "why": "killed the process; alone it does so too"}]
    assert set(call.found()) == {TESTS[0]}


def test_a_test_that_hangs_is_named_and_left_out(detect: Command) -> None:
    """It hangs in the reversed order only, which a fork runs."""
    write_project(World(TESTS), detect.folder)
    (detect.folder / "test_00.py").write_text(
        "import shared, time\ndef test_00():\n    time.sleep(3600 if shared.RAN else 0)\ndef test_01():\n    pass\n"
    )
    call = detect(*FEW, "--order-timeout", "20", "--fresh", "fork")
    assert call.code == 0
    why = "ran into the time limit; alone it passes"
    assert call.told["not_run"] == [{"test": "test_00.py::test_00", "why": why}]


def test_a_reset_that_fails_voids_the_round_and_twice_ends_it(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    counting = "echo x >> resets; test $(wc -l < resets) -ne 3"
    call = detect("--orders", "3", "--minimize", "no", "--no-upload", "--reset", counting)
    assert call.code == 0
    assert "order 1 of 3 is void: --reset failed" in call.printed
    assert [order["round"] for order in call.told["orders"]] == [2, 3]
    call = detect(*FEW, "--reset", "false")
    assert call.code == 1
    assert "original order, try 1 of 3 is void: --reset failed" in call.printed
    assert "--reset failed twice in a row" in call.printed


def test_only_that_names_no_test_is_refused(detect: Command) -> None:
    write_project(World(TESTS), detect.folder)
    call = detect(*FEW, "--only", "tests/test_cart.py::*", "--only", "test_x.py")
    assert call.code == 1
    assert "--only names no test that is collected: tests/test_cart.py::*, test_x.py" in call.printed


@pytest.mark.parametrize(
    "options", [("--how", "sideways"), ("--orders", "0"), ("--budget", "-1"), ("--minimize", "some")]
)
def test_wrong_options_are_refused(detect: Command, options: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        detect(*options)
    assert ended.value.code == 2


def test_a_command_that_does_not_follow_two_dashes_is_told_where_it_belongs(
    detect: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        detect("pytest", "tests/", command=())
    assert ended.value.code == 2
    assert "unrecognized arguments: pytest tests/ (your command follows --, as in: flakeboard detect -- pytest)" in (
        capsys.readouterr().err
    )


def test_an_unknown_experiment_cannot_be_resumed(detect: Command) -> None:
    call = detect("--resume", "0123", command=())
    assert call.code == 1
    assert str(Path(".flakeboard") / "experiment-0123.jsonl") in call.printed
