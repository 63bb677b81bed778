"""From a test's source to its sketch: words counted, each spread over 256 numbers by a keyed hash.

The same words and key give the same bytes on every Python from 3.8 up, whatever its hash seed, locale or platform.
See docs/concepts.md#predictions."""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from hashlib import blake2b, sha256
from typing import Mapping, NamedTuple

FORM = 1
"""Count it up when sketches of the same source are no longer comparable with those made before."""
SIZE = 256
LEAST_WORDS = 5
_LARGEST = 127
_WORD = re.compile(r"\w\w+")


class Sketch(NamedTuple):
    numbers: bytes
    """256 signed bytes."""
    digest: str
    """Of the words and their counts: the same digest, nothing to send."""
    words: int
    """How many words the source has, each as often as it is there."""


def key_of(slug: str, secret: str = "") -> bytes:
    """The key of a project's sketches: from a secret of CI, else from the project's slug, which keeps them apart."""
    return sha256((secret or "flakeboard:" + slug).encode("utf-8", "replace")).digest()


def key_id(key: bytes) -> str:
    """What the server is told of a key, to know sketches apart that cannot be compared."""
    return sha256(key).hexdigest()[:8]


def words_of(source: str) -> Counter[str]:
    """How often each word occurs; `source` is without comments and contents of strings."""
    return Counter(_WORD.findall(source.lower()))


def sketch_of(words: Mapping[str, int], key: bytes) -> Sketch | None:
    """The sketch of counted words; None where there are too few to compare by."""
    total = sum(words.values())
    if total < LEAST_WORDS:
        return None
    numbers = _numbers(words, key)
    if not any(numbers):
        return None
    return Sketch(numbers, _digest(words, key), total)


def _numbers(words: Mapping[str, int], key: bytes) -> bytes:
    """Sums are taken in the order of the words, since sums of fractions depend on their order."""
    sums = [0.0] * SIZE
    for word, count in sorted(words.items()):
        spread, weight = blake2b(_bytes(word), key=key, digest_size=8).digest(), 1 + math.log(count)
        for place in struct.unpack("<4H", spread):
            sums[(place >> 1) % SIZE] += weight if place & 1 else -weight
    scale = _LARGEST / (max(map(abs, sums)) or 1.0)
    return struct.pack("256b", *(math.floor(value * scale + 0.5) for value in sums))


def _digest(words: Mapping[str, int], key: bytes) -> str:
    text = " ".join(f"{word}:{count}" for word, count in sorted(words.items()))
    return blake2b(_bytes(text), key=key, digest_size=16).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
