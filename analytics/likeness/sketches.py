"""Sketches as they are sent: checked, kept from the default branch alone, and compared with what is known."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone
from flakeboard.sketches.sketch import FORM, SIZE

from analytics.kernel.likeness.score import Units
from analytics.likeness.models import TestSketch
from analytics.likeness.units import ProjectUnits, group_of, unit_key
from ingest.models import Project

MOST_TESTS = 5_000
"""Of one request."""
MOST_BYTES = 8 * 1024 * 1024
MOST_DIGESTS = 100_000
MOST_SKETCHES = 200_000
"""Of one project."""
_LONGEST_NAME = 4_000
_TEXTS = {"classname": _LONGEST_NAME, "name": _LONGEST_NAME, "file": _LONGEST_NAME, "language": 20}
_HEX_32, _HEX_8 = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{8}")
_FIELDS = {*_TEXTS, "words", "digest", "written", "sketch"}
_SEEN_AGAIN = timedelta(days=1)
_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)


class BadSketch(Exception):
    """What was sent is no sketch: a code and a sentence."""

    def __init__(self, sentence: str, code: str = "bad_sketch") -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


@dataclass(frozen=True, slots=True)
class SentSketch:
    classname: str
    name: str
    file: str
    words: int
    digest: bytes
    written: datetime | None
    numbers: bytes
    """Empty where a test has no sketch: it is too short, or was not found."""

    @property
    def unit(self) -> bytes:
        return unit_key(self.classname, self.name, self.file)


# -- what is sent ------------------------------------------------------------------------------------------------


def read_key(body: Mapping[str, Any]) -> str:
    """The id of the key that the sketches of a request were made with."""
    if body.get("form") != FORM or isinstance(body.get("form"), bool):
        raise BadSketch(f"form must be {FORM}: update the client, or the server.")
    key_id = body.get("key_id")
    if not isinstance(key_id, str) or not _HEX_8.fullmatch(key_id):
        raise BadSketch("key_id must be eight hexadecimal digits.")
    return key_id


def read_tests(tests: object) -> list[SentSketch]:
    if not isinstance(tests, list):
        raise BadSketch("tests must be a list.")
    if len(tests) > MOST_TESTS:
        raise BadSketch(f"A request has at most {MOST_TESTS:,} tests; send the others with the next.", "limit_sketches")
    return [_sent(place, test) for place, test in enumerate(tests)]


def read_digests(digests: object) -> list[bytes]:
    if not isinstance(digests, list):
        raise BadSketch("digests must be a list.")
    if len(digests) > MOST_DIGESTS:
        raise BadSketch(f"A request has at most {MOST_DIGESTS:,} digests.", "limit_sketches")
    return [_digest(digest, f"digests[{place}]") for place, digest in enumerate(digests)]


def _sent(place: int, test: object) -> SentSketch:
    where = f"tests[{place}]"
    if not isinstance(test, dict):
        raise BadSketch(f"{where} must be an object.")
    unknown = sorted(map(str, set(test) - _FIELDS))
    if unknown:
        raise BadSketch(f"{where} has a field {unknown[0][:40]!r}; there are {', '.join(sorted(_FIELDS))}.")
    texts = {name: _text(test.get(name, ""), f"{where}.{name}", most) for name, most in _TEXTS.items()}
    if not texts["name"]:
        raise BadSketch(f"{where}.name must not be empty.")
    words = test.get("words", 0)
    if type(words) is not int or not 0 <= words < 2**31:
        raise BadSketch(f"{where}.words must be a whole number.")
    numbers = _numbers(test.get("sketch"), where)
    return SentSketch(
        texts["classname"],
        texts["name"],
        texts["file"],
        words,
        _digest(test.get("digest"), f"{where}.digest") if numbers else b"",
        _written(test.get("written"), where),
        numbers,
    )


def _text(value: object, where: str, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise BadSketch(f"{where} must be text of at most {most:,} characters.")
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _digest(value: object, where: str) -> bytes:
    if not isinstance(value, str) or not _HEX_32.fullmatch(value):
        raise BadSketch(f"{where} must be 32 hexadecimal digits.")
    return bytes.fromhex(value)


def _numbers(value: object, where: str) -> bytes:
    if value is None:
        return b""
    if not isinstance(value, str) or len(value) > 2 * SIZE:
        raise BadSketch(f"{where}.sketch must be base64 of {SIZE} bytes.")
    try:
        numbers = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise BadSketch(f"{where}.sketch is no base64.") from None
    if len(numbers) != SIZE:
        raise BadSketch(f"{where}.sketch has {len(numbers)} bytes and not {SIZE}.")
    if not any(numbers):
        raise BadSketch(f"{where}.sketch is all zero.")
    return numbers


def _written(value: object, where: str) -> datetime | None:
    """A day, as git blame says it; the future is as good as unknown."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > 40:
        raise BadSketch(f"{where}.written must be a day, as 2026-01-31.")
    try:
        day = datetime.fromisoformat(value)
    except ValueError:
        raise BadSketch(f"{where}.written must be a day, as 2026-01-31.") from None
    try:
        moment = (day if day.tzinfo else day.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        return None
    return moment if _EARLIEST <= moment <= timezone.now() + timedelta(days=1) else None


# -- what is kept ------------------------------------------------------------------------------------------------


def lacking(project: Project, key_id: str, digests: Sequence[bytes]) -> list[int]:
    """Places of the digests of which no sketch is kept. Those that are were seen again."""
    kept = TestSketch.objects.filter(project=project, form=FORM, key_id=key_id)
    known = {bytes(digest) for digest in kept.filter(digest__in=set(digests)).values_list("digest", flat=True)}
    now = timezone.now()
    kept.filter(digest__in=known, seen_at__lt=now - _SEEN_AGAIN).update(seen_at=now)
    return [place for place, digest in enumerate(digests) if digest not in known]


@transaction.atomic
def sketches_keep(*, project: Project, key_id: str, commit: str, tests: Sequence[SentSketch]) -> int:
    """Keep them in place of those before; raises BadSketch where a project has too many."""
    Project.objects.select_for_update().get(pk=project.pk)
    rows = {test.unit: test for test in tests if test.numbers}
    now = timezone.now()
    TestSketch.objects.bulk_create(
        [
            TestSketch(
                project=project,
                unit=unit,
                form=FORM,
                key_id=key_id,
                digest=test.digest,
                numbers=test.numbers,
                words=test.words,
                written=test.written,
                commit=commit,
                seen_at=now,
            )
            for unit, test in rows.items()
        ],
        update_conflicts=True,
        unique_fields=("project", "unit"),
        update_fields=("form", "key_id", "digest", "numbers", "words", "written", "commit", "seen_at"),
        batch_size=1_000,
    )
    if TestSketch.objects.filter(project=project).count() > MOST_SKETCHES:
        sentence = f"A project keeps sketches of at most {MOST_SKETCHES:,} tests."
        raise BadSketch(sentence, "limit_sketches")
    return len(rows)


# -- what is compared --------------------------------------------------------------------------------------------


def as_units(tests: Sequence[SentSketch], known: ProjectUnits, key_id: str) -> Units:
    """Tests as questions: by their number where they are known here, else by one of no test."""
    place_of = {key: place for place, key in enumerate(known.keys)}
    places = [place_of.get(test.unit) for test in tests]
    comparable = key_id == known.key_id
    sketch = np.zeros((len(tests), SIZE), dtype=np.int8)
    for row, test in enumerate(tests):
        if test.numbers and comparable:
            sketch[row] = np.frombuffer(test.numbers, dtype=np.int8)
    return Units(
        np.array(
            [-1 - row if place is None else int(known.units.number[place]) for row, place in enumerate(places)],
            dtype=np.int64,
        ),
        np.array([known.groups.get(group_of(test.classname, test.file), -1) for test in tests], dtype=np.int64),
        sketch,
    )
