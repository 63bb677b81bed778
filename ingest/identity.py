"""A test's identity: a digest of its key, each part prefixed by its length; and its names."""

from dataclasses import dataclass, fields
from hashlib import blake2b

from ingest.junit.report import TestKey

DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class TestName:
    """A test by its number in the project and its names."""

    __test__ = False  # keeps pytest from collecting it

    number: int
    suite: str = ""
    classname: str = ""
    name: str = ""
    file: str = ""


TEST_NAME_FIELDS = tuple(field.name for field in fields(TestName))
"""Columns of a test from which its name is made."""


def length_prefixed(*parts: str) -> bytes:
    """A unique encoding of the parts: ("ab", "c") and ("a", "bc") differ."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def digest_of(*parts: str) -> bytes:
    return blake2b(length_prefixed(*parts), digest_size=DIGEST_BYTES).digest()


def test_digest(key: TestKey) -> bytes:
    """The test's identity: its explicit id if it has one, else suite, class, name and file."""
    suite, classname, name, file, explicit_id = key
    if explicit_id:
        return digest_of("id", explicit_id)
    return digest_of("key", suite, classname, name, file)
