"""The answer: in words for people, as JSON for machines and for the server."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple

from flakeboard.waits import parameters as limits
from flakeboard.waits.conditions import pasted
from flakeboard.waits.inquiry import Findings, Polling, Searched
from flakeboard.waits.proposals import proposal_of
from flakeboard.waits.samples import Sample
from flakeboard.waits.search import NEEDED, NO_EFFECT, NO_HELP, RAISE, SLEEP, SMALLER
from flakeboard.why.chances import quantile

_DAYS = 30


class Elsewhere(NamedTuple):
    """What the server knows of the test in CI."""

    slowest: float | None = None
    """Seconds: 95th percentile of its passing executions on the slowest host."""
    runs_a_day: float | None = None

    def factor(self, here: float | None) -> float:
        """How much slower CI is than this machine; at least 1."""
        if not self.slowest or not here:
            return limits.UNKNOWN_FACTOR
        return max(1.0, self.slowest / here)


def time_of(seconds: float) -> str:
    if seconds == 0:
        return "0 ms"
    return f"{seconds * 1_000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def sentence_of(searched: Searched, elsewhere: Elsewhere) -> str:
    """What a search came to, in one or two sentences."""
    search, value = searched.search, searched.value
    now = time_of(search.now)
    if search.verdict == NO_EFFECT:
        low, reference = search.samples[search.low], search.reference
        what = "remove it" if search.kind == SLEEP else "a timeout costs nothing while the test passes: keep it"
        what = "what fails has another cause" if search.good is None else what
        return (
            f"{now} in {value.place} makes no difference: {_failed(low)} at {time_of(search.low)}, "
            f"{_failed(reference)} at {now}; {what}."
        )
    if search.verdict == NO_HELP:
        return (
            f"{now} in {value.place} is not the cause alone: {_failed(search.reference)}, and raising it to "
            f"{time_of(max(search.samples))} does not mend that."
        )
    if search.verdict == RAISE and search.good is not None:
        good = search.samples[search.good]
        proposal = _proposal(searched, elsewhere) or search.good
        cost = f", which costs {_longer(good, search.reference)} a run" if search.kind == SLEEP else ""
        return (
            f"Raise {now} in {value.place} to {time_of(proposal)}: {_failed(search.reference)} at {now}, "
            f"{_failed(good)} at {time_of(search.good)}{cost}."
        )
    if search.verdict == SMALLER and search.good is not None:
        good = search.samples[search.good]
        text = f"{time_of(search.good)} is enough in {value.place} here: {_failed(good)}; "
        if search.kind != SLEEP:
            return text + f"the {now} of a timeout cost nothing while the test passes."
        text += f"{now} takes {_longer(search.reference, good)} longer a run"
        if elsewhere.runs_a_day and good.mean is not None and search.reference.mean is not None:
            saved = max(0.0, search.reference.mean - good.mean) * elsewhere.runs_a_day * _DAYS / 60
            text += f", {saved:,.0f} minutes a month at {elsewhere.runs_a_day:,.0f} runs a day"
        return text + "."
    if search.verdict == NEEDED:
        return f"{now} in {value.place} is needed: no smaller value is good, {_failed(search.reference)} as it is."
    done = sum(sample.runs for sample in search.table)
    return f"{now} in {value.place}: not enough runs to tell ({done} were made)."


def _failed(sample: Sample) -> str:
    return f"{sample.failed} of {sample.runs} failed (at most {sample.interval[1]:.1%})"


def _longer(sample: Sample, other: Sample) -> str:
    if sample.mean is None or other.mean is None:
        return time_of(max(0.0, sample.value - other.value))
    return time_of(max(0.0, sample.mean - other.mean))


def _proposal(searched: Searched, elsewhere: Elsewhere) -> float | None:
    return proposal_of(searched.search, elsewhere.factor(searched.search.reference.median), searched.longest_success)


def first_sentence(findings: Findings, elsewhere: Elsewhere) -> str:
    if findings.searched:
        order = {RAISE: 0, SMALLER: 1, NO_EFFECT: 2, NEEDED: 3, NO_HELP: 4}
        best = min(findings.searched, key=lambda each: order.get(each.search.verdict, 5))
        return sentence_of(best, elsewhere)
    if not findings.values:
        return "No sleep and no timeout was found."
    return f"None of its {len(findings.values)} time values can be varied."


# -- polling -----------------------------------------------------------------------------------------------------


def polling_body(polling: Polling, searched: Searched, elsewhere: Elsewhere) -> dict[str, Any]:
    held = polling.held
    body: dict[str, Any] = {
        "condition": polling.condition.expression,
        "runs": len(polling.needed),
        "never": len(polling.needed) - len(held),
        "broke": polling.broke,
    }
    if held and not polling.broke:
        p99 = quantile(held, 0.99)
        factor = elsewhere.factor(searched.search.reference.median)
        deadline = max(searched.search.now, limits.DEADLINE * p99 * factor)
        body.update(median=round(quantile(held, 0.5), 6), p99=round(p99, 6), longest=round(max(held), 6))
        body.update(deadline=round(deadline, 3), text=text_to_paste(polling, round(deadline, 3)))
    return body


def text_to_paste(polling: Polling, deadline: float) -> str:
    """The wait that belongs to what is asked, where the trace shows who sets it; else a loop."""
    condition = polling.condition
    expression, indent = condition.expression, condition.indent
    if expression.endswith(".is_set()") and "threading.Event.set" in polling.setters and expression.count("(") == 1:
        return f"{indent}assert {expression[: -len('.is_set()')]}.wait({deadline:g})"
    if expression.startswith("not ") and expression.endswith(".is_alive()") and "end of thread" in polling.setters:
        thread = expression[len("not ") : -len(".is_alive()")]
        return f"{indent}{thread}.join({deadline:g})\n{indent}assert {expression}"
    if condition.is_awaited and expression.endswith(".done()") and "end of task" in polling.setters:
        task = expression[: -len(".done()")]
        return f"{indent}await asyncio.wait([{task}], timeout={deadline:g})\n{indent}assert {expression}"
    return pasted(condition, deadline)


# -- the whole ---------------------------------------------------------------------------------------------------


def as_json(findings: Findings, test: str, elsewhere: Elsewhere) -> dict[str, Any]:
    return {
        "test": test,
        "ended": findings.ended,
        "sentence": first_sentence(findings, elsewhere),
        "runs": findings.runs,
        "values": [
            {
                **asdict(value),
                "site": None if value.site is None else list(value.site),
                "place": value.place,
                "can_vary": value.can_vary,
                "reason": value.reason,
            }
            for value in findings.values
        ],
        "searched": [_searched(each, elsewhere) for each in findings.searched],
    }


def _searched(searched: Searched, elsewhere: Elsewhere) -> dict[str, Any]:
    search, value = searched.search, searched.value
    rows = [
        {
            "value": round(sample.value, 6),
            "failed": sample.failed,
            "runs": sample.runs,
            "low": round(sample.interval[0], 6),
            "high": round(sample.interval[1], 6),
            "curve": round(smooth, 6),
            "mean": None if sample.mean is None else round(sample.mean, 6),
            "median": None if sample.median is None else round(sample.median, 6),
            "verdict": search.judged.get(sample.value, ""),
        }
        for sample, smooth in zip(search.table, search.curve)
    ]
    return {
        "place": value.place,
        "function": value.function,
        "callee": value.callee,
        "kind": search.kind,
        "now": round(search.now, 6),
        "verdict": search.verdict,
        "sentence": sentence_of(searched, elsewhere),
        "table": rows,
        "smallest_good": None if search.good is None else round(search.good, 6),
        "largest_bad": None if search.bad is None else round(search.bad, 6),
        "proposal": _proposal(searched, elsewhere),
        "factor": round(elsewhere.factor(search.reference.median), 3),
        "polling": None if searched.polling is None else polling_body(searched.polling, searched, elsewhere),
    }


def lines(findings: Findings, test: str, elsewhere: Elsewhere) -> list[str]:
    """The answer for a terminal, its first sentence first."""
    text = [test, first_sentence(findings, elsewhere)]
    for each in findings.searched:
        body = _searched(each, elsewhere)
        text += ["", f"{body['place']}  {body['callee']}, a {body['kind']} of {time_of(body['now'])}"]
        text += [f"  {'value':>9}  {'failed':>11}  {'95 % interval':>16}  {'mean':>8}  {'median':>8}"]
        text += [f"  {_row(row)}" for row in body["table"]]
        if body["sentence"] != text[1]:
            text.append(body["sentence"])
        if body["proposal"] is not None:
            what = "Remove it" if body["proposal"] == 0 else f"Write {time_of(body['proposal'])}"
            text.append(f"{what}: CI is taken to be {body['factor']:g} times as slow as this machine.")
        text += _polling_lines(body["polling"])
    others = [value for value in findings.values if not any(value is each.value for each in findings.searched)]
    if others:
        text += ["", "Not searched:"]
        text += [
            f"  {value.place}  {value.callee}, {value.kind}"
            f"{'' if value.value is None else ' ' + time_of(value.value)} ({value.origin})"
            f"{': ' + value.reason if value.reason else ''}"
            for value in others
        ]
    return text


def _row(row: dict[str, Any]) -> str:
    share = f"{row['failed']} of {row['runs']}"
    interval = f"{row['low']:.1%} to {row['high']:.1%}"
    mean, median = ("-" if row[name] is None else time_of(row[name]) for name in ("mean", "median"))
    return f"{time_of(row['value']):>9}  {share:>11}  {interval:>16}  {mean:>8}  {median:>8}  {row['verdict']}"


def _polling_lines(polling: dict[str, Any] | None) -> list[str]:
    if polling is None or not (polling["runs"] or polling["broke"]):
        return []
    if polling["broke"]:
        return [f"`{polling['condition']}` cannot be asked earlier: it raised {polling['broke']}."]
    if "median" not in polling:
        return [f"`{polling['condition']}` held in none of {polling['runs']} runs before the sleep ended."]
    never = f", never in {polling['never']}" if polling["never"] else ""
    return [
        f"`{polling['condition']}` held after {time_of(polling['median'])} (99 % of {polling['runs']} runs: "
        f"{time_of(polling['p99'])}, longest {time_of(polling['longest'])}{never}).",
        "In place of the sleep and the assert:",
        *("  " + line for line in polling["text"].splitlines()),
    ]
