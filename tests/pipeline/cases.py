"""The cases of the contract: how the tests end, and what must come of it."""

from dataclasses import dataclass, field

from tests.extent import WHOLE


@dataclass(frozen=True)
class Case:
    name: str
    fails: str = ""
    """Tests that fail; `test_flaky:1` fails once."""
    exits: int = 0
    codes: tuple[str, ...] = ()
    """Why the gate says no; with none it says yes."""
    reads: tuple[str, ...] = ()
    """What stands in the log."""
    asked: bool = True
    pytest: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    misbehaves: str = ""
    files: dict[str, str] = field(default_factory=dict)
    normal: bool = False
    """Three whole runs of the same job went before."""
    decisions: int = 1
    again: bool = False
    """Another case goes the same way; what differs is the gate's own, and shown in tests/quarantine. In `make whole`."""


BLOCKS, PASSES = "  BLOCKS  {:<11}  test_shop :: {}", "  passes  {:<11}  test_shop :: {}"
QUARANTINED = PASSES.format("quarantined", "test_quarantined")
UNTRUSTED = "and the report cannot be trusted"
NOT_ASKED = "Flakeboard was not asked"

PLAIN = [
    Case("all green", reads=("nothing to excuse",)),
    Case(
        "only quarantined fails",
        "test_quarantined",
        reads=("and it is quarantined: the build may pass", QUARANTINED, "exit code 0; the command itself gave 1."),
    ),
    Case(
        "two quarantined fail", "test_quarantined test_late", reads=("and all are quarantined", QUARANTINED), again=True
    ),
    Case(
        "quarantined and new fail",
        "test_quarantined test_new",
        exits=1,
        codes=("not_quarantined",),
        reads=("1 is quarantined, 1 blocks", QUARANTINED, BLOCKS.format("new", "test_new"), "as the command gave it."),
    ),
    Case(
        "known flaky and not quarantined",
        "test_flaky",
        exits=1,
        codes=("not_quarantined",),
        reads=(BLOCKS.format("flaky", "test_flaky"), "known to be flaky, and not quarantined here"),
    ),
    Case("new", "test_new", exits=1, codes=("not_quarantined",), reads=("Nothing that is known explains",), again=True),
    Case("quarantined and all tests of the norm", "test_quarantined", normal=True, reads=(QUARANTINED,), again=True),
    Case(
        "green and fewer tests than usual", pytest=("-k", "good"), normal=True, reads=("nothing to excuse",), again=True
    ),
]
RETRIES = [
    Case(
        "flaky is cleared by a rerun",
        "test_flaky:1",
        options=("--retries", "auto"),
        decisions=2,
        reads=("rerun 1 of 1 failing test", "The blocking tests passed in a rerun", "passed in a rerun"),
    ),
    Case(
        "flaky fails in every rerun",
        "test_flaky",
        exits=1,
        codes=("not_quarantined",),
        options=("--retries", "auto"),
        decisions=2,
        reads=("test_flaky failed in every rerun", BLOCKS.format("flaky", "test_flaky")),
    ),
    Case(
        "no time left for reruns",
        "test_flaky:1",
        exits=1,
        codes=("not_quarantined",),
        options=("--retries", "auto", "--budget", "0"),
        reads=("the time for reruns (0 s) is up",),
    ),
    Case(
        "broken is never rerun",
        "test_broken:1",
        exits=1,
        codes=("not_quarantined",),
        options=("--retries", "auto"),
        reads=("test_broken blocks, and no rerun is recommended for it",),
    ),
    Case(
        "new is not rerun by recommendation",
        "test_new:1",
        exits=1,
        codes=("not_quarantined",),
        options=("--retries", "auto"),
        reads=("test_new blocks, and no rerun is recommended for it",),
        again=True,
    ),
    Case(
        "new is rerun as often as said",
        "test_new:2",
        options=("--retries", "2"),
        decisions=2,
        reads=("rerun 2 of 1 failing test", "The blocking tests passed in a rerun"),
    ),
    Case(
        "quarantined is left alone and flaky is cleared",
        "test_quarantined test_flaky:1",
        options=("--retries", "auto"),
        decisions=2,
        reads=("rerun 1 of 1 failing test", QUARANTINED),
    ),
    Case(
        "no rerun answers a run that was cut short",
        "test_flaky:1",
        exits=1,
        codes=("cut_short", "too_few_tests", "not_quarantined"),
        options=("--retries", "auto"),
        pytest=("-x",),
        normal=True,
    ),
]
CANNOT = {"test_cannot.py": "import nowhere_to_be_found\n"}
NEVER = [
    Case("usage error", exits=4, asked=False, pytest=("--no-such-option",), reads=("wrote no report", NOT_ASKED)),
    Case(
        "no tests",
        exits=5,
        codes=("exit_code_not_tests", "failed_without_failures"),
        pytest=("-k", "nothing"),
        reads=("pytest exits with 1 when tests fail; 5 means something else",),
    ),
    Case(
        "interrupted",
        "test_quarantined",
        exits=2,
        codes=("exit_code_not_tests",),
        misbehaves="interrupted",
        reads=(UNTRUSTED, "2 means something else"),
    ),
    Case(
        "internal error",
        "test_quarantined",
        exits=3,
        codes=("exit_code_not_tests", "run_errors"),
        misbehaves="internal",
        reads=(UNTRUSTED, "1 thing besides tests failed"),
    ),
    Case(
        "usage error beside a report",
        "test_quarantined",
        exits=4,
        codes=("exit_code_not_tests",),
        misbehaves="exits 4",
        reads=(UNTRUSTED,),
        again=True,
    ),
    Case(
        "killed by SIGKILL",
        "test_quarantined",
        exits=137,
        codes=("killed_by_signal",),
        misbehaves="killed 9",
        reads=("killed by signal 9: it did not finish", "exit code 137, as the command gave it."),
    ),
    Case(
        "killed by SIGSEGV",
        "test_quarantined",
        exits=139,
        codes=("killed_by_signal",),
        misbehaves="killed 11",
        reads=("killed by signal 11",),
        again=True,
    ),
    Case(
        "failed without a failure",
        exits=1,
        codes=("failed_without_failures",),
        misbehaves="exits 1",
        reads=("The runner exited with 1, but no test failed", "for another reason than its tests"),
    ),
    Case(
        "collection error",
        exits=2,
        codes=("exit_code_not_tests", "run_errors", "failed_without_failures"),
        files=CANNOT,
        reads=("1 thing besides tests failed, such as a build, a collection",),
    ),
    Case(
        "collection error beside a quarantined failure",
        "test_quarantined",
        exits=1,
        codes=("run_errors",),
        pytest=("--continue-on-collection-errors",),
        files=CANNOT,
        reads=(UNTRUSTED, QUARANTINED),
    ),
    Case("report missing", "test_quarantined", exits=1, asked=False, misbehaves="removes", reads=("wrote no report",)),
    Case(
        "one of two reports missing",
        "test_quarantined",
        exits=1,
        codes=("not_sent",),
        options=("--report", "junit.xml", "--report", "api/*.xml"),
        pytest=("--junitxml=junit.xml",),
        reads=("No report was written that matches api/*.xml.",),
    ),
    Case(
        "report unreadable",
        "test_quarantined",
        exits=1,
        codes=("not_understood", "report_missing"),
        misbehaves="garbles",
        reads=("No report could be read",),
    ),
    Case(
        "report truncated",
        "test_quarantined",
        exits=1,
        codes=("report_partial", "too_few_tests"),
        misbehaves="truncates",
        reads=("A report is damaged: what came after the damage is not known", UNTRUSTED),
    ),
    Case(
        "cut short by -x",
        "test_late",
        exits=1,
        codes=("cut_short",),
        pytest=("-x",),
        normal=True,
        reads=("It ended with a failing test after 29 of about 30: it stopped there", UNTRUSTED),
    ),
    Case(
        "cut short by --maxfail",
        "test_quarantined test_late",
        exits=1,
        codes=("cut_short",),
        pytest=("--maxfail=2",),
        normal=True,
        reads=("2 are quarantined, and the report cannot be trusted",),
        again=True,
    ),
    Case(
        "fewer tests than usual",
        "test_quarantined",
        exits=1,
        codes=("too_few_tests",),
        pytest=("-k", "quarantined or good"),
        normal=True,
        reads=("21 tests ran; such runs have 30 of late",),
    ),
    Case(
        "quarantine expired",
        "test_expired",
        exits=1,
        codes=("quarantine_expired",),
        reads=("test_expired failed, and the quarantine has expired", "Its quarantine has expired."),
    ),
    Case("quarantined for another branch", "test_other_branch", exits=1, codes=("not_quarantined",), again=True),
    Case("quarantined for this branch", "test_other_branch", options=("--branch", "release/7")),
    Case(
        "quarantined for this branch and a pull request from elsewhere",
        "test_quarantined test_other_branch",
        exits=1,
        codes=("not_quarantined",),
        options=("--branch", "main", "--pull-request", "12"),
    ),
    Case("quarantined in another environment", "test_other_system", exits=1, codes=("not_quarantined",), again=True),
    Case("quarantined in this environment", "test_other_system", options=("--env", "os=Plan9")),
    Case("quarantine released", "test_released", exits=1, codes=("not_quarantined",), again=True),
]
ALL = [*PLAIN, *RETRIES, *NEVER]
CASES = [case for case in ALL if WHOLE or not case.again]
