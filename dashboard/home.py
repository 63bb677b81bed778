"""The folder that embedded mode keeps its things in: database, broker, secret key, collected static files."""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from dashboard.environment import BadSetting

_SOCKET_NAME = "/.s.PGSQL.5432"
_SOCKET_PATH_LIMIT = 103
"""Bytes of a Unix socket's path that every system takes (macOS: 104 with the closing NUL)."""


def directory(written: str) -> Path:
    """The home folder, made where it is missing. One line where that cannot be."""
    path = Path(written).expanduser().absolute()
    try:
        for folder in (path, path / "broker", path / "broker" / "control"):
            folder.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied", str(path))
    except OSError as error:
        raise BadSetting(
            f"FLAKEBOARD_HOME={str(path)!r} cannot be used: {error.strerror}. "
            "Set FLAKEBOARD_HOME to a folder that this user may write."
        ) from error
    return path


def secret_key(home: Path) -> str:
    """The key of this installation, made at its first start and kept where only its user can read it."""
    path = home / "secret_key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text().strip()
        if len(kept) < 40:
            raise BadSetting(f"{path} is damaged: delete it (people will have to sign in again).") from None
        return kept
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


def socket_directory(home: Path) -> Path:
    """Where PostgreSQL puts its socket: in the home, or in the temporary folder where that path is too long."""
    inside = home / "run"
    if len(os.fsencode(f"{inside}{_SOCKET_NAME}")) <= _SOCKET_PATH_LIMIT:
        return inside
    digest = hashlib.sha256(os.fsencode(str(home))).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"flakeboard-{os.getuid()}-{digest}"
