"""What a careful engineer concludes from the raw histories; imports nothing of the product.

`python -m tests.truth.derive DATA` writes the tables anew. Everything here is counting on timelines: slow, short and
apart from the product's own arithmetic, so that the two can disagree. README.md has what was looked at by hand."""

import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.truth.histories import ERROR, FAIL, PASS, History, all_histories
from tests.truth.related import Table, clusters, clusters_by_words, related_pairs

TABLES = Path(__file__).parent / "tables"

BULK_TESTS, BULK_SHARE, IMPROBABLE = 10, 0.3, 1e-6
STANDING = 3
"""So many executions, all failing, are a breakage and no accident."""
ENVIRONMENT = re.compile(
    "connection (refused|reset)|name resolution|unknown ?host|no space left|permission denied|out of memory", re.I
)


def conclude(whole: History) -> Table:
    history = whole.last_days()
    failing = {test: line for test, line in history.timelines.items() if FAIL in line or ERROR in line}
    regressions = find_regressions(history, failing)
    regressed = {
        (test, place) for regression in regressions for test in regression["tests"] for place in regression["places"]
    }
    incidents, bulks = find_incidents(history, failing, regressed)
    rows = [judge(history, test, failing[test], regressions) for test in sorted(failing)]
    flaky = {row["test"]: failing_places(failing[row["test"]]) for row in rows if row["state"] == ["flaky"]}
    related = related_pairs(flaky, len(history.runs))
    executed = sum(1 for line in history.timelines.values() if PASS in line or FAIL in line or ERROR in line)
    return {
        "history": history.name,
        "runs": len(history.runs),
        "tests": len(history.timelines),
        "stable": executed - len(failing),
        "unexecuted": len(history.timelines) - executed,
        "ever_failed": rows,
        "incidents": incidents,
        "bulks that are no incident": bulks,
        "regressions": [
            {name: value for name, value in regression.items() if name != "places"} for regression in regressions
        ],
        **clusters(flaky, related),
        "clusters by words": clusters_by_words(history, flaky),
        **costs(history, failing, flaky),
    }


# -- timelines ---------------------------------------------------------------------------------------------------


def failing_places(line: str) -> list[int]:
    return [place for place, outcome in enumerate(line) if outcome in (FAIL, ERROR)]


def executed_places(line: str) -> list[int]:
    return [place for place, outcome in enumerate(line) if outcome in (PASS, FAIL, ERROR)]


def spelled(places: Sequence[int], history: History) -> str:
    """Runs as people write them: run008-run017 run092-run093."""
    stretches: list[list[int]] = []
    for place in places:
        if stretches and place == stretches[-1][-1] + 1:
            stretches[-1].append(place)
        else:
            stretches.append([place])
    labels = ((history.runs[stretch[0]].label, history.runs[stretch[-1]].label) for stretch in stretches)
    return " ".join(first if first == last else f"{first}-{last}" for first, last in labels)


def stretches_of(line: str) -> list[list[int]]:
    """Maximal sequences of failing executions; runs in which the test was skipped or absent don't count."""
    found: list[list[int]] = [[]]
    for place in executed_places(line):
        if line[place] == PASS:
            found.append([])
        else:
            found[-1].append(place)
    return [stretch for stretch in found if stretch]


# -- regressions -------------------------------------------------------------------------------------------------


def find_regressions(history: History, failing: dict[str, str]) -> list[Table]:
    """Failures that begin with a commit and last until another, over two commits or more; by commit."""
    commits = [run.commit for run in history.runs]
    found: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for test, line in failing.items():
        ran = executed_places(line)
        for stretch in stretches_of(line):
            before = [place for place in ran if place < stretch[0]][-1:]
            after = [place for place in ran if place > stretch[-1]][:1]
            named = all(commits[place] for place in (*before, *stretch, *after))
            inside = {commits[place] for place in stretch}
            outside = {commits[place] for place in (*before, *after)}
            if named and before and len(inside) > 1 and not inside & outside:
                found[tuple(stretch)].append(test)
    return [_regression(history, stretch, sorted(tests)) for stretch, tests in sorted(found.items())]


def _regression(history: History, stretch: tuple[int, ...], tests: list[str]) -> Table:
    after = [place for place in executed_places(history.timelines[tests[0]]) if place > stretch[-1]]
    says = Counter(history.words.get((test, stretch[0]), "").split("\n")[0][:80] for test in tests)
    return {
        "since": history.runs[stretch[0]].commit,
        "mended": history.runs[after[0]].commit if after else None,
        "commits": [history.runs[place].commit for place in stretch],
        "tests": tests,
        "says": [text for text, _ in says.most_common()],
        "places": stretch,
    }


# -- incidents ---------------------------------------------------------------------------------------------------


def find_incidents(
    history: History, failing: dict[str, str], regressed: set[tuple[str, int]]
) -> tuple[list[Table], list[Table]]:
    """Runs that the machines broke; and runs with ten failures or more beyond the expected ones that they did not."""
    incidents, bulks = [], []
    columns = map(Counter, zip(*history.timelines.values(), strict=True))
    for (place, run), outcomes in zip(enumerate(history.runs), columns, strict=True):
        bad = [test for test, line in failing.items() if line[place] in (FAIL, ERROR)]
        bad = [test for test in bad if (test, place) not in regressed]
        executed = outcomes[PASS] + outcomes[FAIL] + outcomes[ERROR]
        expected = _expected(history, failing, place, executed)
        beyond = [test for test in bad if _rate_elsewhere(failing[test], place) < 0.5]
        why = _why_incident(history, place, bad, beyond, executed, expected)
        row = {"run": run.label, "failing": len(bad), "beyond": len(beyond), "executed": executed, "why": why}
        if why:
            incidents.append(row)
        elif len(beyond) >= BULK_TESTS:
            bulks.append(row | {"why": _why_not(beyond, executed)})
    return incidents, bulks


def _rate_elsewhere(line: str, place: int) -> float:
    """How often the test fails in the other runs."""
    others = [other for other in executed_places(line) if other != place]
    return sum(line[other] != PASS for other in others) / len(others) if others else 0.0


def _expected(history: History, failing: dict[str, str], place: int, executed: int) -> float:
    """Failing tests that a run should have. One that never failed in 9 other runs may fail in the tenth (Jeffreys):
    at a rate of nought, any three first failures would be a wonder."""
    ran = [line for line in failing.values() if line[place] in (PASS, FAIL, ERROR)]
    known = 0.0
    for line in ran:
        others = [other for other in executed_places(line) if other != place]
        known += (sum(line[other] != PASS for other in others) + 0.5) / (len(others) + 1)
    return known + (executed - len(ran)) * 0.5 / len(history.runs)


def _why_incident(
    history: History, place: int, bad: list[str], beyond: list[str], executed: int, expected: float
) -> str:
    if len(beyond) >= BULK_TESTS and len(beyond) >= BULK_SHARE * executed:
        return "bulk"
    classes = Counter(class_of(test) for test in bad)
    across = len(classes) >= 3 and 2 * max(classes.values()) <= len(bad)
    if across and len(history.runs) * poisson_tail(len(bad), expected) < IMPROBABLE:
        return "improbable"
    named = sum(1 for test in beyond if ENVIRONMENT.search(history.words.get((test, place), "")))
    return "environment" if len(beyond) >= 3 and 2 * named > len(beyond) else ""


def _why_not(beyond: list[str], executed: int) -> str:
    name, most = Counter(class_of(test) for test in beyond).most_common(1)[0]
    return f"{len(beyond)} of {executed} tests, {most} of them in {name.rpartition('.')[2]}: one cause there, a cluster"


def class_of(test: str) -> str:
    return test.rpartition(".")[0]


def poisson_tail(least: int, mean: float) -> float:
    """The chance of so many or more."""
    return max(1 - sum(math.exp(-mean) * mean**count / math.factorial(count) for count in range(least)), 0.0)


# -- states ------------------------------------------------------------------------------------------------------


def judge(history: History, test: str, line: str, regressions: list[Table]) -> Table:
    """One test that failed. `state` has more than one word where the data cannot tell; `why` says it."""
    ran, bad = executed_places(line), failing_places(line)
    state, why = _state(history, test, line, regressions)
    counts = {"failed": len(bad), "executed": len(ran)}
    return {"test": test, "state": state, **counts, "runs": spelled(bad, history), "why": why}


def _state(history: History, test: str, line: str, regressions: list[Table]) -> tuple[list[str], str]:
    ran, stretches = executed_places(line), stretches_of(line)
    if len(failing_places(line)) == len(ran) >= STANDING:
        return ["broken"], "it failed in every run, so since before the first"
    if len(stretches) == 1 and stretches[0][-1] == ran[-1] and len(stretches[0]) >= STANDING:
        return ["broken"], f"it passed until {history.runs[stretches[0][0]].label}, and never since"
    outcomes = defaultdict(set)
    for place in ran:
        outcomes[history.runs[place].commit].add(line[place] == PASS)
    both = [commit for commit, seen in outcomes.items() if len(seen) == 2]
    if not both:
        mine = [regression for regression in regressions if test in regression["tests"]]
        return _only_across_commits(mine, len(stretches))
    later = {history.runs[place].commit for place in ran if place > stretches[-1][-1]} - set(both)
    if later:
        return ["flaky", "recovered"], "both outcomes at one revision; whether a later one mended it takes a judgement"
    return ["flaky"], "it passed and failed at one revision" + _never_fixed(ran, stretches)


def _never_fixed(ran: list[int], stretches: list[list[int]]) -> str:
    clean = sum(1 for place in ran if place > stretches[-1][-1])
    return f"; {clean} clean runs since at the same one, where nothing was mended" if clean > 10 else ""


def _only_across_commits(regressions: list[Table], stretches: int) -> tuple[list[str], str]:
    if len(regressions) == stretches:
        since = regressions[0]["since"][:10]
        mended = (regressions[0]["mended"] or "")[:10]
        return (
            ["suspect", "stable"],
            f"broken by {since}, mended by {mended}: passed, failed, passed across commits is all that outcomes say "
            "(suspect), the words say a mended regression (stable); never flaky, broken or an incident",
        )
    return ["suspect", "stable"], "it never passed and failed at one revision: one run a commit cannot tell"


# -- what to fix first -------------------------------------------------------------------------------------------


def costs(history: History, failing: dict[str, str], flaky: dict[str, list[int]]) -> Table:
    """Runs that flaky tests blocked, or would have blocked if nothing else had failed; and the one that did so most."""
    others = {place for test, line in failing.items() if test not in flaky for place in failing_places(line)}
    hit = {place for places in flaky.values() for place in places}
    most = max(flaky, key=lambda test: len(flaky[test]), default=None)
    return {
        "runs passed": len(history.runs) - len(hit | others),
        "runs with a flaky failure": len(hit),
        "runs blocked by flaky tests alone": len(hit - others),
        "first to fix": most,
    }


# -- tables ------------------------------------------------------------------------------------------------------


def written(table: Table) -> str:
    """JSON with a line a row, so that people can read and compare it."""
    lines = []
    for name, value in table.items():
        rows = isinstance(value, list) and value
        inner = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in value) if rows else ""
        lines.append(f" {json.dumps(name)}: " + (f"[\n{inner}\n ]" if rows else json.dumps(value, ensure_ascii=False)))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_all(histories: Iterable[History]) -> None:
    TABLES.mkdir(exist_ok=True)
    for history in histories:
        (TABLES / f"{history.name}.json").write_text(written(conclude(history)), encoding="utf-8")


if __name__ == "__main__":
    write_all(all_histories(Path(sys.argv[1])))
