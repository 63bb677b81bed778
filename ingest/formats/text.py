"""The common base of text and JSON formats: the position of damage, and lines of bounded length."""

import codecs
from collections.abc import Iterator

from ingest.formats.cases import Case, Trouble, add_case
from ingest.junit.dialects import Dialect
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.junit.problems import over_limit
from ingest.junit.report import ParsedReport
from ingest.junit.target import Target
from ingest.verdict import Verdict


class Damage(Exception):
    """The file cannot be read past this point."""

    def __init__(self, sentence: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.line = line
        self.column = column


class TextFormat:
    """Collects one document of a format that is not XML. `read` raises Damage if it breaks off."""

    dialect: Dialect

    def __init__(self, limits: Limits, share: Share) -> None:
        self.limits = limits
        self.share = share
        self.target = Target(limits, share, careful=True, dialect=self.dialect)
        self.target.start("testsuites", {})

    @property
    def report(self) -> ParsedReport:
        return self.target.report

    def read(self, chunks: Iterator[bytes]) -> None:
        raise NotImplementedError

    def tell(self, code: str, sentence: str) -> None:
        self.target.tell(code, sentence)

    def add(self, case: Case) -> None:
        add_case(self.target, case, self.limits.attempts)

    def spend(self, case: Case) -> None:
        """Cut the texts of a case to the upload's remaining budget; texts of a pass are dropped."""
        if case.verdict is Verdict.PASS and not case.before:
            case.system_out = case.system_err = ""
            return
        for trouble in (case.trouble, *case.before):
            trouble.text = self._kept(trouble.text)
        case.system_out, case.system_err = self._kept(case.system_out), self._kept(case.system_err)

    def _kept(self, text: str) -> str:
        sink = self.share.sink(self.limits.text_kept)
        sink.add(text)
        return self.share.take(sink)

    def run_error(self, where: str, trouble: Trouble) -> None:
        self.target.add_run_error(where, trouble.failure())


def decoded(chunks: Iterator[bytes], report: ParsedReport) -> Iterator[str]:
    """The chunks as text; undecodable bytes become U+FFFD with a warning."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        text = decoder.decode(chunk)
        if "\ufffd" in text:
            report.warnings.add("repaired", "Undecodable bytes became U+FFFD.")
        if text:
            yield text
    if rest := decoder.decode(b"", final=True):
        yield rest


def lines_of(chunks: Iterator[bytes], report: ParsedReport, limit: int) -> Iterator[list[str]]:
    """The lines of a text without their ends, as many at once as a chunk completes."""
    rest: list[str] = []
    size = 0
    for text in decoded(chunks, report):
        first, newline, more = text.partition("\n")
        rest.append(first)
        size += len(first)
        if size > limit:
            raise over_limit("markup", limit, "One line is too long")
        if newline:
            lines = ["".join(rest), *more.split("\n")]
            last = lines.pop()
            yield [line.removesuffix("\r") for line in lines] if "\r" in text or "\r" in lines[0] else lines
            rest, size = [last], len(last)
    if size:
        yield ["".join(rest)]
