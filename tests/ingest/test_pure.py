"""Identity, vectors, signatures, renames, tokens: the pure parts, against brute force where there is one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import vectors
from ingest.identity import digest_of, length_prefixed, test_digest
from ingest.junit.times import read_duration, read_timestamp
from ingest.likely_renames import RenameCandidate, likely_renames
from ingest.signature import signature_of
from ingest.tokens import looks_like_token, new_token

test_digest.__test__ = False
parts = st.lists(st.text(max_size=8), min_size=1, max_size=5)


@given(parts, parts)
def test_different_keys_never_meet(one: list[str], other: list[str]) -> None:
    assert (length_prefixed(*one) == length_prefixed(*other)) == (one == other)


@given(st.tuples(*[st.text(max_size=5)] * 5), st.tuples(*[st.text(max_size=5)] * 5))
def test_tests_are_the_same_when_their_explicit_ids_or_their_keys_are(one, other) -> None:
    same = one[4] == other[4] if one[4] and other[4] else one == other
    assert (test_digest(one) == test_digest(other)) == same


def test_a_separator_inside_a_name_makes_no_other_key() -> None:
    assert digest_of("a/b", "c") != digest_of("a", "b/c")
    assert digest_of("ab", "") != digest_of("a", "b")


# -- vectors -----------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 9.9e6) | st.just(float("nan")), max_size=40))
def test_durations_come_back_within_a_twentieth_of_a_percent(seconds: list[float]) -> None:
    back = vectors.decode_durations(vectors.encode_durations(np.array(seconds)))
    for given_, got in zip(seconds, back, strict=True):
        if given_ != given_:
            assert got != got
        elif given_ < 1e-6:
            assert got == 0
        else:
            assert got == pytest.approx(given_, rel=0.0005)


numbers = st.sets(st.integers(0, 3_000), max_size=60) | st.sets(st.integers(0, 2_000_000), max_size=60)


@given(numbers)
def test_members_come_back_from_bitmap_and_list(members: set[int]) -> None:
    given_ = np.array(sorted(members), dtype=np.int32)
    stored = vectors.encode_members(given_)
    assert np.array_equal(vectors.decode_members(stored.form, stored.base, stored.data), given_)
    assert len(stored.data) <= 4 * len(given_) + 8


@given(st.permutations(range(20)))
def test_orders_come_back(order: list[int]) -> None:
    rows = np.array(order, dtype=np.int32)
    assert np.array_equal(vectors.decode_order(vectors.encode_order(rows), len(rows)), rows)


def test_a_large_order_comes_back() -> None:
    rows = np.random.default_rng(1).permutation(70_000).astype(np.int32)
    assert np.array_equal(vectors.decode_order(vectors.encode_order(rows), len(rows)), rows)


# -- signatures --------------------------------------------------------------------------------------------------

JAVA = (
    "java.net.ConnectException: Connection refused: /10.0.0.7:{port}\n\tat java.base/java.net.Socket.connect(Socket.java:{line})\n"
    "\tat com.shop.Client.open(Client.java:{line})\n\tat com.shop.{test}.run({test}.java:12)\n"
)


def test_the_same_problem_on_two_days_has_one_signature() -> None:
    one = signature_of("ConnectException", "refused at 0x7f3a after 1.2s", JAVA.format(port=1, line=3, test="ATest"))
    other = signature_of("ConnectException", "refused at 0xdead after 31s", JAVA.format(port=22, line=4, test="ATest"))
    assert one == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 2026-01-02T03:04:05.678Z", "at 2027-12-31T23:59:59Z"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174fff"),
        ("in /tmp/pytest-of-ci/pytest-0/x.txt", "in /tmp/pytest-of-root/pytest-91/x.txt"),
        ("port 10.1.2.3:8080 closed", "port 10.9.9.9:45123 closed"),
        ("took 0.31s", "took 12.5s"),
        ("object <Foo at 0x7f0a>", "object <Foo at 0xbeef>"),
        ("commit 3f2a9c1d", "commit 9b8e7d6c"),
        ("line 12 of 40", "line 99 of 107"),
    ],
)
def test_volatile_parts_do_not_make_another_signature(one: str, other: str) -> None:
    assert signature_of("T", one, "") == signature_of("T", other, "")


def test_two_problems_have_two_signatures() -> None:
    assert signature_of("T", "expected red", "") != signature_of("T", "expected blue", "")
    assert signature_of("A", "same", "") != signature_of("B", "same", "")
    here = 'Traceback\n  File "a.py", line 3, in load\nKeyError: x'
    there = 'Traceback\n  File "b.py", line 3, in save\nKeyError: x'
    assert signature_of("KeyError", "x", here) != signature_of("KeyError", "x", there)


def test_one_problem_in_two_tests_has_one_signature() -> None:
    def text(test: str) -> str:
        return f"def {test}():\n>       connect()\n\ntests/test_a.py:{len(test)}: \nsrc/db.py:31: OperationalError"

    assert signature_of("OperationalError", "no route", text("test_one")).digest == (
        signature_of("OperationalError", "no route", text("test_another")).digest
    )


# -- renames -----------------------------------------------------------------------------------------------------


def test_likely_renames_are_found_and_used_once() -> None:
    gone = [
        RenameCandidate(0, "tests.test_cart", "test_total_with_discount"),
        RenameCandidate(1, "tests.test_cart", "test_empty"),
    ]
    new = [
        RenameCandidate(7, "tests.test_cart", "test_total_with_discounts"),
        RenameCandidate(8, "tests.shop.test_cart", "test_empty"),
        RenameCandidate(9, "tests.test_cart", "test_something_else_altogether"),
    ]
    assert [(pair.old, pair.new) for pair in likely_renames(gone, new)] == [(0, 7), (1, 8)]


def test_unlike_names_are_no_renames() -> None:
    assert (
        likely_renames([RenameCandidate(0, "a", "test_login")], [RenameCandidate(1, "a", "test_checkout_with_card")])
        == []
    )
    assert likely_renames([], [RenameCandidate(1, "a", "x")]) == []


# -- tokens and times --------------------------------------------------------------------------------------------


def test_a_token_carries_its_scope_and_a_checksum() -> None:
    token = new_token("upload")
    assert token.startswith("flk_upload_") and looks_like_token(token)
    changed = token[:-7] + ("A" if token[-7] != "A" else "B") + token[-6:]
    assert not looks_like_token(changed)
    assert not looks_like_token("flk_upload_" + "a" * 36)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1.5", 1.5),
        ("1E-07", 1e-7),
        ("1,234.5", 1234.5),
        ("0,5", 0.5),
        ("0.5s", 0.5),
        ("250 ms", 0.25),
        ("0:01:02", 62),
    ],
)
def test_durations_are_read_as_producers_write_them(written: str, seconds: float) -> None:
    assert read_duration(written) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "written", ["", "NaN", "-1", "1e308", "1e999", "inf", "1_000", "١٢", "abc", "1.2.3", "9" * 500]
)
def test_what_is_no_duration_is_absent(written: str) -> None:
    assert read_duration(written) is None


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05.678901+02:00", "2026-01-02T01:04:05+00:00"),
        ("2026-01-02 03:04:05 UTC", "2026-01-02T03:04:05+00:00"),
        ("2038-01-19T03:14:08Z", "2038-01-19T03:14:08+00:00"),
        ("Tue, 03 Jun 2025 10:11:12 GMT", "2025-06-03T10:11:12+00:00"),
        ("Tue, 3 Jun 2025 10:11:12 +0200", "2025-06-03T08:11:12+00:00"),
        ("03 Jun 2025 10:11:12 UTC", "2025-06-03T10:11:12+00:00"),
        ("Tue Jun 03 2025 10:11:12 GMT+0200 (Central European Summer Time)", "2025-06-03T08:11:12+00:00"),
    ],
)
def test_timestamps_with_a_zone_are_moments(written: str, moment: str) -> None:
    found = read_timestamp(written)
    assert found is not None and found.isoformat() == moment


@pytest.mark.parametrize(
    "written",
    [
        "2026-01-02T03:04:05",
        "1970-01-01T00:00:00Z",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "2026-02-30T00:00:00Z",
        "Mon, 16 Nov 2026 04:22:41",
        "Mon, 16 Nov 2026 04:22:41 CEST",
        "Mon, 31 Nov 2026 04:22:41 GMT",
        "Mon, 16 Nuv 2026 04:22:41 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "",
        "x" * 10_000,
    ],
)
def test_timestamps_without_a_moment_are_absent(written: str) -> None:
    assert read_timestamp(written) is None
