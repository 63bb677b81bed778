"""The gate's decision on GitHub Actions: a summary on the run's page and annotations on the files."""

from __future__ import annotations

from typing import Mapping

from flakeboard.console import plain
from flakeboard.gate.decision import Decision, FailingTest
from flakeboard.secret import redact

_ANNOTATIONS = 10
"""GitHub shows at most this many of a kind in a step."""
_ROWS = 100
_MARKDOWN = "\\`*_{}[]()#+-.!|<>~&@:"


def escape_data(text: str) -> str:
    """Escape the text after the `::` of a workflow command."""
    return redact(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a value before the `::` of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def error_lines(decision: Decision) -> list[str]:
    """An `::error` command for each blocking test."""
    return [_annotation(test) for test in decision.blocking[:_ANNOTATIONS]]


def _annotation(test: FailingTest) -> str:
    place = f"file={escape_property(test.file)}," if test.file else ""
    title = escape_property(f"{plain(test.label, 200)} ({plain(test.kind, 20)})")
    return "::error {}title={}::{}".format(place, title, escape_data(plain(test.sentence) or "This test blocks."))


def summary(decision: Decision, exit_code: int, own_code: int) -> str:
    """The verdict as Markdown, with foreign text escaped."""
    head = "passed" if decision.passed else ("failed" if decision.decided else "did not decide")
    lines = [f"### Flakeboard's gate {head}", "", markdown(decision.sentence), ""]
    if decision.failing:
        lines += ["| | test | what it is |", "|---|---|---|"]
        lines += [
            "| {} | {} | {} |".format("blocks" if test.blocks else "passes", markdown(test.label), _about(test))
            for test in decision.failing[:_ROWS]
        ]
        lines.append("")
    lines += ["- " + markdown(sentence or code) for code, sentence in decision.reasons]
    if decision.page.startswith(("http://", "https://")) and not set(decision.page) & set(" <>()\"'\n"):
        lines += ["", f"[The run in Flakeboard]({redact(decision.page)})"]
    lines += ["", f"Exit code {exit_code}; the command gave {own_code}.", ""]
    return "\n".join(lines) + "\n"


def _about(test: FailingTest) -> str:
    what = ": ".join(part for part in (test.kind, test.about) if part)
    text = markdown(f"{what} What helps: {test.remedy}" if test.remedy else what)
    links = ", ".join(f"[{number}]({redact(address)})" for number, address in enumerate(test.fixes, 1))
    return f"{text} Fixes of tests like it: {links}" if links else text


def markdown(text: str) -> str:
    return "".join("\\" + letter if letter in _MARKDOWN else letter for letter in plain(text))


def write_summary(environ: Mapping[str, str], text: str) -> None:
    """Append to the step's summary; failing to write it is no reason to fail the run."""
    path = environ.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return
