"""The folder that embedded mode keeps its things in: database, broker, secret key, collected static files."""

import hashlib
import os
import pwd
import secrets
import stat
import tempfile
from pathlib import Path

from dashboard.ops.environment import BadSetting

ADDRESS_FILE = "address"
"""In the home folder: where the server answers, for commands that are started without its settings."""
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
        kept = _made_once(path, secrets.token_urlsafe(50))
    except OSError as error:
        raise BadSetting(f"{path} cannot be read or made: {error.strerror}. Mend it, or set SECRET_KEY.") from error
    if len(kept) < 40:
        raise BadSetting(f"{path} is damaged: delete it (people will have to sign in again).")
    return kept


def _made_once(path: Path, content: str) -> str:
    """What the file holds; the content, if it was not there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(errors="replace").strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
    return content


def database_user() -> pwd.struct_passwd:
    """Who PostgreSQL runs as where we are root."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise BadSetting("PostgreSQL does not run as root, and there is no user postgres or nobody: start as another user.")


def closed_folder(user: pwd.struct_passwd, *paths: Path) -> Path | None:
    """The first folder on the way to the paths, as written or as links lead, that the user may not enter."""
    ways = (way for path in paths for way in (path.absolute(), path.resolve()))
    folders = (folder for way in ways for folder in reversed(way.parents))
    return next((folder for folder in folders if not _may_enter(user, folder.stat())), None)


def _may_enter(user: pwd.struct_passwd, folder: os.stat_result) -> bool:
    if folder.st_uid == user.pw_uid:
        return bool(folder.st_mode & stat.S_IXUSR)
    if folder.st_gid == user.pw_gid:
        return bool(folder.st_mode & stat.S_IXGRP)
    return bool(folder.st_mode & stat.S_IXOTH)


def socket_directory(home: Path) -> Path:
    """Where PostgreSQL puts its socket: in the home, or in the temporary folder where that path is too long."""
    inside = home / "run"
    if len(os.fsencode(f"{inside}{_SOCKET_NAME}")) <= _SOCKET_PATH_LIMIT:
        return inside
    digest = hashlib.sha256(os.fsencode(str(home))).hexdigest()[:16]
    outside = Path(tempfile.gettempdir()) / f"flakeboard-{os.getuid()}-{digest}"
    if os.path.lexists(outside):
        check_private(outside)
    return outside


def check_private(folder: Path) -> None:
    """Everybody may make folders in /tmp: use one there only if nobody else can have put a socket into it."""
    found = folder.lstat()
    owners = {os.getuid()} | ({database_user().pw_uid} if os.getuid() == 0 else set())
    if not (stat.S_ISDIR(found.st_mode) and found.st_uid in owners and stat.S_IMODE(found.st_mode) & 0o777 == 0o700):
        raise BadSetting(
            f"{folder} is not a folder that only we may enter: remove it, or set FLAKEBOARD_HOME to a shorter path."
        )
