"""Helpers for tests of the reader."""

import io

from ingest.junit import reading
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused
from ingest.junit.report import Case, ParsedReport
from ingest.junit.upload import UploadReading, read_upload


def read(content: bytes | str, limits: Limits | None = None) -> ParsedReport:
    data = content.encode() if isinstance(content, str) else content
    return reading.read_report(lambda: io.BytesIO(data), limits)


def read_carefully(content: bytes, limits: Limits | None = None) -> ParsedReport:
    """The same by the parser alone: the slow twin of the fast lane."""
    from ingest.junit.kept_text import Share

    limits = limits or Limits()
    way = reading._ReadingMode(lane=False)
    while True:
        try:
            return reading._read(io.BytesIO(content), limits, Share(limits.text_total), way)
        except reading._ReadAgain as again:
            way = again.way


def refusal(content: bytes | str, limits: Limits | None = None) -> Refused:
    try:
        report = read(content, limits)
    except Refused as error:
        return error
    raise AssertionError(f"it was read: {report.counts()}")


def case(report: ParsedReport, name: str) -> Case:
    return next(one for one in report.cases() if one.key[2] == name)


def upload(*files: bytes | tuple[str, bytes], limits: Limits | None = None) -> UploadReading:
    named = [file if isinstance(file, tuple) else (f"{index}.xml", file) for index, file in enumerate(files)]
    return read_upload([(name, io.BytesIO(content)) for name, content in named], limits)
