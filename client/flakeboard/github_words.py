"""What GitHub Actions shows besides the log: a summary on the run's page, and annotations on the files."""

from __future__ import annotations

from typing import Mapping

from flakeboard.console import plain
from flakeboard.decision import Decision, Failing
from flakeboard.secret import redact

_ANNOTATIONS = 10
"""GitHub shows no more of one kind in a step."""
_ROWS = 100
_MARKDOWN = "\\`*_{}[]()#+-.!|<>~&@:"


def escape_data(text: str) -> str:
    """Text after the `::` of a workflow command."""
    return redact(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A value before it."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def error_lines(decision: Decision) -> list[str]:
    """One `::error` for each test that blocks."""
    return [_annotation(one) for one in decision.blocking[:_ANNOTATIONS]]


def _annotation(one: Failing) -> str:
    place = f"file={escape_property(one.file)}," if one.file else ""
    title = escape_property(f"{plain(one.label, 200)} ({plain(one.kind, 20)})")
    return "::error {}title={}::{}".format(place, title, escape_data(plain(one.sentence) or "This test blocks."))


def summary(decision: Decision, exit_code: int, own_code: int) -> str:
    """The verdict as Markdown; whatever came from outside is text, never markup."""
    head = "passed" if decision.passed else ("failed" if decision.decided else "did not decide")
    told = [f"### Flakeboard's gate {head}", "", _cell(decision.sentence), ""]
    if decision.failing:
        told += ["| | test | what it is |", "|---|---|---|"]
        told += [
            "| {} | {} | {} |".format("blocks" if one.blocks else "passes", _cell(one.label), _about(one))
            for one in decision.failing[:_ROWS]
        ]
        told.append("")
    told += ["- " + _cell(sentence or code) for code, sentence in decision.reasons]
    if decision.page.startswith(("http://", "https://")) and not set(decision.page) & set(" <>()\"'\n"):
        told += ["", f"[The run in Flakeboard]({redact(decision.page)})"]
    told += ["", f"Exit code {exit_code}; the command gave {own_code}.", ""]
    return "\n".join(told) + "\n"


def _about(one: Failing) -> str:
    return _cell(": ".join(part for part in (one.kind, one.sentence) if part))


def _cell(text: str) -> str:
    return "".join("\\" + letter if letter in _MARKDOWN else letter for letter in plain(text))


def write_summary(environ: Mapping[str, str], text: str) -> None:
    """Append to the step's summary; a summary that cannot be written is no reason to fail."""
    path = environ.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return
