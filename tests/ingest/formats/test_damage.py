"""Damage to a red document in another format never raises, and never leaves a reading without a failure or a trace.

By hand for longer: EXAMPLES=20000 pytest tests/ingest/formats/test_damage.py"""

import os

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from ingest.junit.problems import Refused
from tests.extent import repeats, slice_of
from tests.ingest.formats.documents import SINGLE, WRITTEN
from tests.ingest.formats.tables import leaves_a_trace
from tests.ingest.junit.reading import read

EXAMPLES = int(os.environ.get("EXAMPLES", repeats(120, 300)))
PLACES = 200
"""In `make test`, of a document; `make whole` damages it at every byte."""
DOCUMENTS = [*WRITTEN.values(), *SINGLE.values()]


def is_silent(document: bytes) -> bool:
    """Whether the document is read as one in which nothing failed and all is understood."""
    try:
        return not leaves_a_trace(read(document))
    except Refused as refused:
        assert refused.code
        return False


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_failure_is_read(document: bytes) -> None:
    report = read(document)
    assert sum(case.verdict.failing for case in report.cases()) == 1
    assert report.not_understood == [] and not report.partial


@pytest.mark.parametrize("document", DOCUMENTS)
def test_cut_anywhere_it_leaves_a_trace(document: bytes) -> None:
    whole = len(document.rstrip())
    assert [end for end in slice_of(range(whole), PLACES) if is_silent(document[:end])] == []


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if len(document) < 4_000])
def test_any_byte_lost_leaves_a_trace(document: bytes) -> None:
    places = slice_of(range(len(document)), PLACES)
    assert [at for at in places if is_silent(document[:at] + document[at + 1 :])] == []


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_a_few_bytes_changed_leave_a_trace(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS))
    at = data.draw(st.integers(0, len(document) - 1))
    lost, added = data.draw(st.integers(0, 3)), data.draw(st.binary(max_size=3))
    changed = document[:at] + added + document[at + lost :]
    note(repr(changed[max(0, at - 60) : at + 60]))
    assert not is_silent(changed)


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_no_mixture_raises(data: st.DataObject) -> None:
    """Pieces of documents in any order: each is read or refused with a code."""
    pieces = []
    for _ in range(data.draw(st.integers(1, 4))):
        document = data.draw(st.sampled_from(DOCUMENTS))
        start = data.draw(st.integers(0, len(document)))
        pieces.append(document[start : data.draw(st.integers(start, len(document)))])
    document = data.draw(st.sampled_from([b"", b"TAP version 13\n", b"{", b"<robot>"])) + b"".join(pieces)
    try:
        read(document)
    except Refused as refused:
        assert refused.code
