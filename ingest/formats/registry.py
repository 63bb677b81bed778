"""Recognises a file's format by its content."""

import re

from ingest.formats import ctrf, go_test, playwright, tap, trx
from ingest.formats.ctrf import Ctrf
from ingest.formats.go_test import GoTest
from ingest.formats.nunit import NUnit
from ingest.formats.playwright import Playwright
from ingest.formats.robot import Robot
from ingest.formats.tap import Tap
from ingest.formats.testng import TestNG
from ingest.formats.text import TextFormat
from ingest.formats.trx import Trx
from ingest.formats.xml import XmlFormat
from ingest.formats.xunit import XUnit

_BY_ROOT: dict[str, type[XmlFormat]] = {
    "test-run": NUnit,
    "assemblies": XUnit,
    "assembly": XUnit,
    "testng-results": TestNG,
    "robot": Robot,
}
_TRACE = b"flakeboard_trace"
"""The first key of a trace, which is no report whatever words are in it."""
_FIRST_KEY = re.compile(rb'\{\s{0,200}"([^"\\]{1,100})"\s{0,9}:')


def xml_format(root: str) -> type[XmlFormat] | None:
    """The format with this root element, whose name includes its namespace as lxml writes it."""
    if trx.NAMESPACE.fullmatch(root):
        return Trx
    return _BY_ROOT.get(root.rpartition("}")[2])


def text_format(start: bytes) -> type[TextFormat] | None:
    """The format of a file that is not XML, by its first bytes."""
    if go_test.START.match(start):
        return GoTest
    if key := _FIRST_KEY.match(start):
        if key[1] == _TRACE:
            return None
        if key[1] in ctrf.FIRST_KEYS or ctrf.NAMED.search(start):
            return Ctrf
        return Playwright if key[1] in playwright.FIRST_KEYS else None
    if tap.START.match(start):
        return Tap
    return GoTest if not start.startswith((b"<", b"{", b"[")) and go_test.LATER.search(start) else None
