"""What the "?" beside a number says: a sentence or two, and where in docs/concepts.md there is more."""

from analytics.columns.schema import NUMBERS

LEGENDS: dict[str, tuple[str, str]] = {
    "suspect": ("Suspect", "failed between passes, but never both on the same commit: maybe flaky, not proven."),
    "to_get_past": ("Get past", "retries after a failure until one passes."),
    "to_expose": ("Expose", "runs until it has both passed and failed."),
    "to_confirm": ("Confirm", "clean runs in a row until a fix is believed."),
    "masked": ("Masked", "a quarantined test failed, and its failure did not block the run."),
    "od": ("OD", "depends on test order: in each order it always passes or always fails."),
    "ndod": ("NDOD", "fails at random, but more often in some orders."),
    "ndoi": ("NDOI", "fails at random, in all orders alike as far as is known."),
    "polluter": ("Polluter", "a test that makes another fail by running before it."),
    "state_setter": ("State-setter", "a test that another needs to run before it."),
    "cleaner": ("Cleaner", "a test that undoes what a polluter left behind."),
}
"""Word -> how it is written, and what it means in one line, where it stands on a page."""

HELPS: dict[str, tuple[str, str]] = {
    # -- numbers of a test: from their table
    **{number.name: (number.help, number.anchor) for number in NUMBERS.values()},
    # -- rates
    "rate_low": (
        "Failed runs by runs, first attempts alone, with the 95 % interval. Sorted by its lower end.",
        "interval",
    ),
    "interval": (
        "The true rate lies in it with 95 % confidence (Clopper-Pearson). The more runs, the narrower.",
        "interval",
    ),
    "attempts": ("All executions, retries counted.", "rate"),
    "window": ("The last 90 days, at most 5,000 reports: what all conclusions rest on.", "window"),
    # -- states
    "stable": ("Nothing in the window says that it is flaky or broken.", "state"),
    "flaky": ("It passed and failed at one revision in one environment, or was saved by a retry.", "state"),
    "suspect": ("It failed between passes, across revisions: that may be flakiness, and is not proof.", "state"),
    "broken": ("Its latest executions on the default branch all fail, or all that there are.", "state"),
    "recovered": ("It was flaky, and has been clean for longer than its own history explains.", "state"),
    "unexecuted": ("It was skipped or absent throughout the window.", "state"),
    "evidence": ("Contradictions and recoveries prove flakiness; reversals only hint at it.", "evidence"),
    "onset": (
        "Between the last clean report and the first that proves flakiness: look at what changed there.",
        "onset",
    ),
    "change": ("A report from which its failure rate or its duration differs from before.", "change"),
    # -- bursts and reruns
    "burst": ("Failures in a row. A bursty test often fails again when it is rerun at once.", "burst"),
    "exposure": ("The chance that n executions show both a pass and a failure.", "reruns"),
    "retries": ("Of all flaky failures, the share that n retries after the failure would clear.", "retries"),
    "recommended": ("The least number, 3 at most, that clears 95 % of what 3 retries would.", "retries"),
    "exceptions": ("Tests that need more retries than are recommended for the project.", "retries"),
    "prior": ("What is assumed of a test with little data: what the project's other flaky tests do.", "reruns"),
    # -- what it costs
    "priority": ("Ranked by the lower end of the cost, so that what failed thrice does not top the list.", "priority"),
    "alone": ("Blocked runs that would have passed without it.", "blocked"),
    "machine_minutes": ("Minutes that machines spend on running it again.", "cost"),
    "money": (
        "Failures that somebody looks into and machine minutes, each at the project's price. Set it in the settings.",
        "money",
    ),
    "rerun_context": (
        "A victim passes without its polluter, a brittle test only after its state-setter; others need the suite.",
        "where-to-rerun-a-test",
    ),
    "rerun_time": (
        "Time of later attempts, and of runs that repeat one of their kind at the same revision of the same branch.",
        "time-of-running-again",
    ),
    "developer_minutes": ("Minutes that people lose by blocked runs, at a fixed price a run.", "cost"),
    "saved": ("The share of blocked runs that pass once this and all before it are fixed.", "priority"),
    # -- runs
    "flaky_run": ("A run whose every failing test is flaky: nobody broke anything.", "run-end"),
    "likeness": (
        "The 7 tests with the nearest sketches of their code, and the tests of its class or file; of each only those "
        "that are known to be flaky, or ran 100 times without a failure.",
        "predictions",
    ),
    "distance": ("0 for the same words as often, 1 for none in common.", "predictions"),
    "hidden": (
        "Flaky tests that have not failed yet: at least so many, by how many were seen to fail once and twice.",
        "hidden-flaky-tests",
    ),
    "regression": (
        "A run with a failing test that is not flaky and had not failed before, outside incidents.",
        "run-end",
    ),
    "broken_run": (
        "What failed in it, flaky tests aside, was broken on the default branch by an earlier commit.",
        "run-end",
    ),
    "incident_run": ("A run that failed because of the infrastructure.", "run-end"),
    "flaky_failures": ("First attempts of flaky tests that failed, outside incidents.", "rate"),
    # -- more than one test
    "signature": ("What is left of a failure's words without addresses, numbers, times and paths.", "signature"),
    "agreement": ("Whether tests that fail together also fail with the same message.", "cluster"),
    "shared_runs": ("Runs in which at least two tests of the cluster failed.", "cluster"),
    "related": ("Tests that failed in the same runs; by chance alone they would seldom do so.", "cluster"),
    "suite_relation": (
        "Whether a suite's flaky tests fail together, each for itself, or something between.",
        "cluster",
    ),
    "incident": ("A report in which so many tests failed that the infrastructure is to blame.", "incident"),
    "expected": ("How many failures the tests' own rates let one expect in this report.", "incident"),
    "p_value": ("How probable something as extreme is where there is nothing to be found.", "p-value"),
    "onset_changes": (
        "Files that changed between its last pass and its first proof, and the chance that as many changes have some.",
        "what-changed-at-the-onset",
    ),
    # -- quarantine
    "quarantine": (
        "A decision: these tests' failures don't block, for so long, and somebody answers for it.",
        "quarantine",
    ),
    "fix": (
        "Claimed: somebody, or a closed ticket, says so. Confirmed: clean since for as many runs as it takes. Refuted: "
        "it passed and failed on the same code since.",
        "fixes",
    ),
    "fix_place": (
        "By the files that changed from the last failure to the first run after the fix. Published: code only 1 %, "
        "tests only 71 %, both 11 %, other 17 %.",
        "where-fixes-are",
    ),
    "gone": (
        "Absent from, or skipped in, the last 20 whole runs of the jobs that used to run it. That is not fixed.",
        "the-life-of-a-flaky-test",
    ),
    "time_to_fix": (
        "Half of the tests are fixed within so many days of their first quarantine. Open ones count as longer.",
        "the-life-of-a-flaky-test",
    ),
    "reproduced": ("Experiments on one test that saw it fail.", "the-life-of-a-flaky-test"),
    "quarantine_state": (
        "Proposed: failures still block. Active: they don't. Released, fixed, expired, rejected: they block again.",
        "quarantine",
    ),
    "owner": ("Who answers for it: by hand, by a pattern of suite or class, or by CODEOWNERS.", "quarantine"),
    "expiry": (
        "When it ends on its own, and its tests block again. Its owner is notified 7 days and 1 day before.",
        "quarantine",
    ),
    "way_out": (
        "Clean runs since the last failure, of those that it takes to believe that the test is fixed.",
        "quarantine",
    ),
    "masked": ("Runs within its scope in which one of its tests failed while it held.", "quarantine"),
    "policy": (
        "What is proposed or quarantined after each analysis, by evidence alone, and never what is broken.",
        "quarantine",
    ),
    "cap": (
        "At most this many tests, and this share of the suite. Beyond it the policy raises an alert instead.",
        "quarantine",
    ),
    "gate": (
        "The answer to CI: may this red build pass? Only if every failing test is quarantined here.",
        "quarantine",
    ),
    # -- orders, durations, causes
    "order": ("The sequence in which a report's tests ran, where the producer tells the truth of it.", "order"),
    "failing_orders": ("Of the orders that it was seen in, those in which it failed.", "order-kind"),
    "polluter": ("A test that makes another fail when it runs before it.", "partner"),
    "state_setter": ("A test without which another fails: it must run before.", "partner"),
    "cleaner": ("A test that, run between the polluter and its victim, lets the victim pass.", "partner"),
    "experiment": (
        "Runs made on purpose to learn something. They count in no rate, state, cost or gate.",
        "experiment",
    ),
    "waits": ("How often it fails, and how long it takes, by the value of a sleep or a timeout.", "wait"),
    "verified": ("Runs before and after a fix, in turn: does it fail less, beyond chance?", "whether-a-fix-is-one"),
    "difference": (
        "What is otherwise in failing executions, by traces of both. Shown where an experiment held and forced it.",
        "differences",
    ),
    "difference_chance": (
        "How often executions that are relabelled at random are told apart as well by anything that was recorded.",
        "differences",
    ),
    "ground": (
        "Shown: an experiment ran it. Stated: a person or CI says so. Inferred: the analysis names a partner, with p.",
        "dependency",
    ),
    "latent": ("Only experiments made it fail. Its state is what CI's runs say.", "latent"),
    "seen_pairs": ("Two tests, one directly before the other, in some order that is known to be true.", "seen-pairs"),
    "bound": (
        "What an approximate assertion compares with. A proposed one keeps its promise with 95 % confidence.",
        "bounds",
    ),
    "cause": (NUMBERS["causes"].help, NUMBERS["causes"].anchor),
    "duration": ("The median of passing and of failing executions.", "duration"),
    "duration_ratio": ("The failing median by the passing one: far longer smells of a timeout.", "duration"),
    "standout": ("A host, hour or environment in which it fails more often than elsewhere, beyond chance.", "standout"),
    # -- uploads and runs
    "ledger": (
        "What became of everything in the upload: read, known by its content not to be results, or not understood.",
        "upload",
    ),
    "attempt": ("One execution of a test inside one run. Retries make several.", "attempt"),
    "provenance": ("How we know that executions are retries of one test.", "attempt"),
    "environment": ("What differs between runs on purpose: system, version, browser.", "run"),
    "partial": ("Of a damaged file: what came before the damage is kept.", "partial"),
    "touches": (
        "Whether a failing test uses what changed, by the functions, files and imports that were recorded. Never a "
        "reason for the gate.",
        "reach",
    ),
    "by_reach": (
        "It failed in runs whose change it does not touch, although it had passed at their base. Never for the gate.",
        "reach",
    ),
    "label": (
        "A word that people put on a test. Search for label:word; policies and channels filter by it, too.",
        "label",
    ),
    # -- trends and slow tests
    "duration_change": (
        "By ranks, one change a test. Slow machines, kinds of runs and the number of tests are allowed for.",
        "slower-and-faster-tests",
    ),
    "time_share": ("Its mean duration times its executions, of the time of all tests.", "slow-tests"),
    "longest_path": (
        "Jobs run side by side: a build lasts as long as its longest. Even: all tests spread over as many equal parts.",
        "longest-part-of-a-build",
    ),
    "compared": (
        "The difference of both periods with its 95 % interval. Where that includes no change, none is claimed.",
        "two-periods-compared",
    ),
    "spell": (
        "New: its first flaky failure. Fixed: clean for as many runs as its own history asks for. Again: flaky since.",
        "new-fixed-and-reopened",
    ),
    "saved_hours": (
        "Runs that only masked failures would have blocked: each saves a person minutes and machines a run.",
        "hours-saved",
    ),
    "rename": ("A test that is gone and a near-identical one that is new.", "rename"),
}
"""Word -> what it says, and its anchor in docs/concepts.md."""
