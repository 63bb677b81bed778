"""Values and bounds in words, for pages, the API and the terminal alike."""

from typing import Any

from analytics.wording import counted

TAILS = {
    "light": "light tail: far values soon become very rare",
    "bounded": "bounded: the values have an end, and it is near",
    "wide": "wide tail: far values become rare only slowly, so that a safe bound lies far out",
    "heavy": "heavy tail: very far values come now and then, so that no bound is safe",
    "no fit": "no known shape: the farthest values follow no rule that could be continued",
}


def sentence(body: dict[str, Any]) -> str:
    """What is known of the present bound."""
    obstacle, n = body["obstacle"], body["n"]
    if obstacle == "not finite":
        return f"{counted(body['not_finite'], 'value')} of {n:,} {_is(body['not_finite'])} not a finite number."
    if obstacle == "constant":
        return f"It does not vary: {counted(n, 'run')}, always {number(body['median'])}."
    present = body["present"]
    begin = f"It fails in {_share(present)}" if present else "How often it fails is not known"
    if obstacle == "too few":
        return f"Not enough data: {counted(n, 'value')} of at least 100." + (f" {begin}." if present and n else "")
    wanted = body["wanted"]
    if wanted and wanted["bound"] is not None:
        return f"{begin}; {number(wanted['bound'])} would fail in {one_in(wanted['tolerated'])} runs."
    return f"{begin}."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _share(present: dict[str, Any]) -> str:
    if present["less_than_1_in"]:
        return f"less than 1 in {present['less_than_1_in']:,} runs"
    return f"{percent(present['share'])} of runs ({percent(present['low'])} to {percent(present['high'])})"


def proposal_sentence(body: dict[str, Any]) -> str:
    """What to do."""
    proposal = body["proposal"]
    word, reason, bound = proposal["word"], proposal["reason"], number(proposal["bound"])
    rare = one_in(body["tolerated"])
    if word == "write":
        what = f"Multiply its tolerances by {bound}" if body["kind"] == "share" else f"Write {bound}"
        if body["kind"] == "difference":
            what = f"Allow {bound} beside the bound that it is compared with"
        warned = " But look for a defect first: " + "; ".join(map(_WARNINGS.__getitem__, proposal["warnings"]))
        return f"{what}: it fails in at most {rare} runs." + (f"{warned}." if proposal["warnings"] else "")
    if word == "loose":
        return f"The present bound is loose enough: it fails in fewer than {rare} runs; {bound} would do."
    if word == "likely loose":
        return "The present bound seems to be loose enough; more runs would make sure."
    return _REASONS.get(reason, "No bound is proposed.").format(
        extreme=number(body["extreme"]), n=f"{body['n']:,}", proven=percent(body["proven"]), rare=rare
    )


_WARNINGS = {
    "grows tenfold": "the tolerance grows more than tenfold",
    "two groups": "the values fall into two groups far apart",
}
_NO_BOUND = (
    "No bound is safe: rerun it instead. The farthest value of {n} runs was {extreme}; that proves only that no more "
    "than {proven} of runs go beyond it."
)
_REASONS = {
    "heavy": _NO_BOUND,
    "no fit": "No bound can be proposed: the farthest values follow no rule that could be continued. More runs may "
    "show one. The farthest value of {n} runs was {extreme}, and no more than {proven} of runs go beyond it.",
    "too far": "No useful bound: one that fails in {rare} runs would lie more than ten times as far out as the "
    "farthest value of {n} runs, {extreme}, and check nothing. More runs may bring it nearer; else rerun the test.",
    "checks nothing": "No bound is proposed: one that fails in {rare} runs would check nothing. Rerun it instead.",
    "more runs": "More runs are needed for a bound that fails in {rare} runs.",
    "constant": "A test that always gives one value needs no bound; is its seed fixed? It then checks one draw only.",
    "too few": "At least 100 values are needed: flakeboard bounds makes them.",
    "not finite": "No bound helps where a value is not finite: look for the defect.",
}


def number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def percent(share: float) -> str:
    """Two digits, as many places as that takes."""
    if share <= 0:
        return "0 %"
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.3g} %"


def one_in(share: float) -> str:
    return f"1 of {1 / share:,.0f}"
