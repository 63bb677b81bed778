"""What comes out of an archive is counted once, however often its start is looked at and its files are opened."""

import io

import pytest

from ingest.junit.archives.unpacking import Budget, Member, MeteredStream
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused


def stream_of(content: bytes, budget: Budget) -> MeteredStream:
    return MeteredStream(io.BytesIO(content), budget, None)


def test_bytes_that_are_peeked_at_stay_to_be_read_and_are_counted_when_they_are() -> None:
    budget = Budget(Limits())
    stream = stream_of(b"abcdefgh", budget)
    assert [stream.peek(3), stream.peek(5)] == [b"abc", b"abcde"]
    assert (stream.out, budget.out) == (0, 0)
    assert stream.read(2) + stream.read_exactly(100) == b"abcdefgh"
    assert (stream.out, budget.out) == (8, 8)


def test_the_limit_holds_for_what_was_peeked_at() -> None:
    stream = stream_of(b"abcdefgh", Budget(Limits(bytes_out=4)))
    assert stream.peek(4) == b"abcd"
    assert stream.read(4) == b"abcd"
    with pytest.raises(Refused) as refusal:
        stream.read(1)
    assert refusal.value.code == "limit_bytes_out"


def test_a_file_that_is_opened_again_begins_anew_and_counts_once() -> None:
    budget, opened = Budget(Limits()), []

    def opener() -> MeteredStream:
        opened.append(stream_of(b"abcdefgh", budget))
        return opened[-1]

    begun = opener()
    begun.peek(4)
    member = Member("a.xml", opener, begun=begun)
    assert member.open().read_exactly(8) == b"abcdefgh"
    assert (len(opened), budget.out) == (1, 8), "the one that was begun is read first"
    assert member.open().read_exactly(8) == b"abcdefgh"
    assert (len(opened), budget.out) == (2, 8)
