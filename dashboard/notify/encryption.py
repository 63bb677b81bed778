"""Secrets at rest: sealed with a key derived from SECRET_KEY, so that a copy of the database alone tells none."""

import base64
import hashlib
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


class Unsealable(Exception):
    """SECRET_KEY was changed since the secret was kept: it has to be entered again."""

    def __init__(self) -> None:
        super().__init__("The stored secret can no longer be read (SECRET_KEY was changed): enter it again.")


@lru_cache(maxsize=4)
def _made(secret_key: str) -> Fernet:
    key = hashlib.scrypt(secret_key.encode(), salt=b"flakeboard sealing 1", n=2**12, r=8, p=1, dklen=32)
    return Fernet(base64.urlsafe_b64encode(key))


def _box() -> Fernet:
    return _made(settings.SECRET_KEY)


def seal(text: str) -> str:
    """Nothing stays nothing, so that "is there one?" needs no key."""
    return _box().encrypt(text.encode()).decode() if text else ""


def unseal(sealed: str) -> str:
    try:
        return _box().decrypt(sealed.encode()).decode() if sealed else ""
    except InvalidToken as error:
        raise Unsealable from error
