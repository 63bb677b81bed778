"""A case of another format, turned into the same rows as JUnit's cases."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.junit.attempts import Details, Element
from ingest.junit.report import Failure
from ingest.junit.target import Target
from ingest.verdict import Verdict

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TYPE = re.compile(r"\A([A-Za-z_][\w.+`]{0,200}(?:Exception|Error|Failure))\s{0,3}:\s")
LONGEST_NAME = 100_000
_LONGEST_MESSAGE = 4_000


def clean(text: str) -> str:
    """The text without characters that XML forbids and a database cannot store."""
    return text if text.isprintable() else _ILLEGAL.sub("", text)


def first_line(text: str) -> str:
    """The first non-empty line, as a message."""
    return text.strip().partition("\n")[0].strip()[:_LONGEST_MESSAGE]


@dataclass(slots=True)
class Trouble:
    """How an attempt failed."""

    message: str = ""
    text: str = ""
    type: str = ""
    error: bool = False
    seconds: float | None = None

    def element(self, tag: str) -> Element:
        kind = self.type or (found[1] if (found := _TYPE.match(self.message.lstrip())) else "")
        message = clean(self.message).strip()[:_LONGEST_MESSAGE]
        return Element(tag, clean(kind)[:1_000], message, clean(self.text), duration=self.seconds)

    def failure(self, verdict: Verdict = Verdict.ERROR) -> Failure:
        element = self.element("error" if verdict is Verdict.ERROR else "failure")
        return element.failure()


@dataclass(slots=True)
class Case:
    """A test in a format: its final verdict, how it failed, and its earlier attempts."""

    name: str
    classname: str = ""
    verdict: Verdict = Verdict.PASS
    time: str = ""
    """Seconds as written."""
    file: str = ""
    line: str = ""
    own_trouble: Trouble | None = None
    before: Sequence[Trouble] = ()
    """Failed attempts before the final one, as the producer marks them."""
    system_out: str = ""
    system_err: str = ""

    @property
    def trouble(self) -> Trouble:
        """How it failed; made when it is asked for, since most cases pass."""
        if self.own_trouble is None:
            self.own_trouble = Trouble()
        return self.own_trouble

    @trouble.setter
    def trouble(self, trouble: Trouble) -> None:
        self.own_trouble = trouble

    def attributes(self) -> dict[str, str]:
        written = {"classname": clean(self.classname[:LONGEST_NAME]), "name": clean(self.name[:LONGEST_NAME])}
        if self.time:
            written["time"] = clean(self.time[:LONGEST_NAME])
        if self.file:
            written["file"] = clean(self.file[:LONGEST_NAME])
        if self.line:
            written["line"] = clean(self.line[:LONGEST_NAME])
        return written

    def details(self, limit: int) -> Details | None:
        """The details of an equivalent JUnit case; None for a plain pass."""
        if self.verdict is Verdict.PASS and not self.before:
            return None
        details = Details(system_out=clean(self.system_out), system_err=clean(self.system_err))
        for trouble in self.before:
            details.add(trouble.element("flakyError" if trouble.error else "flakyFailure"), limit)
        if self.verdict.failing:
            details.add(self.trouble.element("error" if self.verdict is Verdict.ERROR else "failure"), limit)
        elif self.verdict is Verdict.SKIP:
            if self.before:  # it failed and did not run again
                details.elements[-1].tag = "failure"
            details.skipped = True
        return details


def add_case(target: Target, case: Case, limit: int) -> None:
    target.add_case(case.attributes(), case.details(limit))


def tell_unknown(target: Target, word: str, name: str) -> Trouble:
    """Report an unknown outcome; the case counts as an error."""
    sentence = f"The outcome {word[:40]!r} is not known, such as of {name[:80]!r}."
    target.tell("unknown_verdict", clean(sentence))
    return Trouble(f"The outcome {word[:40]!r} is not known.", error=True)


def tell_surplus(target: Target, what: str, *, failing: int, read_failing: int, tests: int, read_tests: int) -> None:
    """Report a summary that counts more than was read, unless failures other than tests explain it."""
    if target.tally().run_errors:
        return
    if failing > read_failing:
        counted = f"failures and errors: {failing:,} counted, {read_failing:,} read"
        target.tell("header_surplus", f"{what} counts more than the cases hold: {counted}.")
    if tests > read_tests:
        counted = f"tests: {tests:,} counted, {read_tests:,} read"
        target.tell("header_tests", f"{what} counts more than the cases hold: {counted}.")
