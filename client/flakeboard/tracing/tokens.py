"""Values as tokens: numbers plain, texts as keyed digests, and the few plain words that may be told."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import re
import tempfile
from typing import Any, Iterable

from flakeboard.traces.limits import LIMITS
from flakeboard.traces.trace import Token, Value

_MEMBERS = 64
_DEPTH = 3
_LARGEST = 2**63
_SECRET = re.compile(r"secret|token|passw|(?:\A|_)(?:key|pin)(?:\Z|_)|apikey|credential", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether a function or variable is named like something whose value is a secret."""
    return bool(_SECRET.search(name))


class Tokens:
    """Tokens by the key of a project; equal values have equal tokens under one key, and none can be read back."""

    def __init__(self, key: bytes, rootdir: str) -> None:
        self._key = hashlib.blake2b(key, digest_size=32).digest()
        self._root = os.path.join(os.path.realpath(rootdir), "")
        self._temporary = os.path.join(os.path.realpath(tempfile.gettempdir()), "")

    def digest(self, content: bytes) -> str:
        return hashlib.blake2b(content, digest_size=8, key=self._key).hexdigest()

    def of(self, value: Any, secret: bool = False, depth: int = _DEPTH) -> Value:
        """The token of a result; of a secret a digest, whatever its type."""
        if secret:
            return Token(type(value).__name__, None, self.digest(repr(value).encode("utf-8", "surrogatepass")))
        if value is None or value is True or value is False:
            return value
        kind = type(value)
        if isinstance(value, int):
            number = int(value)
            if -_LARGEST <= number < _LARGEST:
                return number
            return Token(kind.__name__, number.bit_length(), self.digest(str(number).encode("ascii")))
        if isinstance(value, float):
            return _float(float(value))
        if isinstance(value, str):
            return Token(kind.__name__, len(value), self.digest(value.encode("utf-8", "surrogatepass")))
        if isinstance(value, (bytes, bytearray)):
            return Token(kind.__name__, len(value), self.digest(bytes(value)))
        if kind in (list, tuple, set, frozenset, dict) and depth:
            return Token(kind.__name__, len(value), self._members(value, depth - 1))
        return Token(kind.__name__[: LIMITS.text])

    def _members(self, members: Iterable[Any], depth: int) -> str:
        first = [
            members_token for members_token, _ in zip((self.of(each, depth=depth) for each in members), range(_MEMBERS))
        ]
        return self.digest(repr(first).encode("ascii", "backslashreplace"))

    def exception(self, error: BaseException) -> Token:
        number = getattr(error, "errno", None)
        name = errno.errorcode.get(number, "") if isinstance(number, int) else ""
        code = getattr(error, "code", None)
        plain = str(code) if isinstance(code, int) and not isinstance(error, SystemExit) else ""
        try:
            text = str(error)
        except Exception:  # an exception of the project's own may not even have a text
            text = ""
        digest = self.digest(text.encode("utf-8", "surrogatepass")) if text else ""
        return Token(type(error).__name__[: LIMITS.text], None, digest, name, plain)

    # -- plain words ---------------------------------------------------------------------------------------------

    def path(self, path: Any) -> str:
        """A path as it may be told: whole below rootdir, else its last part."""
        try:
            text = os.fsdecode(path)
        except TypeError:
            return ""
        whole = os.path.realpath(text)
        name = os.path.basename(whole) or "/"
        if whole.startswith(self._root):
            shown = whole[len(self._root) :].replace(os.sep, "/")
        elif whole.startswith(self._temporary):
            shown = "<tmp>"
        else:
            shown = name
        return shown if len(shown) <= LIMITS.text and shown.isprintable() else ""

    def is_below_root(self, path: Any) -> bool:
        return isinstance(path, (str, bytes, os.PathLike)) and os.path.realpath(os.fsdecode(path)).startswith(
            self._root
        )

    @staticmethod
    def address(address: Any) -> str:
        """Host and port; no user, path or query."""
        if isinstance(address, tuple) and len(address) >= 2 and isinstance(address[0], str):
            host = address[0].rpartition("@")[2]
            if re.match(r"[A-Za-z0-9.:_-]{1,253}\Z", host) and isinstance(address[1], int):
                return f"{host}:{address[1]}"
        return ""

    @staticmethod
    def variable(name: Any) -> str:
        """The name of an environment variable, which must look like one."""
        return name if isinstance(name, str) and re.match(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z", name) else ""


def _float(number: float) -> Value:
    """To 6 digits: behind the point, or significant ones below 1; -0.0 is 0."""
    if math.isnan(number):
        return Token("float", plain="nan")
    if math.isinf(number):
        return Token("float", plain="inf" if number > 0 else "-inf")
    rounded = round(number, 6) if abs(number) >= 1 else float(f"{number:.6g}")
    return rounded + 0.0
