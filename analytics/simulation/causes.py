"""What a failing test says: type, message and trace, in the words of its true cause.

Numbers, addresses and dates in them differ each time; the signature does not."""

from dataclasses import dataclass
from datetime import UTC, datetime

from analytics.simulation.names import Names, Style


@dataclass(frozen=True, slots=True)
class Theme:
    """Words for one sort of failure. In them: {what} the test, {detail}, {n} and {hex} and {date} that change."""

    python: str
    java: str
    message: str
    shared: bool = False
    """It comes from the setup that tests share, and names no test."""


_ASSERTION = ("AssertionError", "java.lang.AssertionError")

INDEPENDENT = (
    Theme("ConnectionResetError", "java.net.SocketException", "{what}: Connection reset by peer (port {n})"),
    Theme("RuntimeError", "java.util.ConcurrentModificationException", "{what}: map changed size during iteration"),
    Theme(*_ASSERTION, "{what}: expected ['red', 'blue'], got ['blue', 'red']"),
    Theme(*_ASSERTION, "{what}: random sample {n} is not in range"),
    Theme(*_ASSERTION, "{what}: 0.1 + 0.2 is <{n}.30000000000000004>, expected <{n}.3>"),
)
BURSTY = (
    Theme("OSError", "java.io.IOException", "{what}: [Errno 24] Too many open files (fd {n})"),
    Theme("ConnectionResetError", "java.net.SocketException", "{what}: Connection reset while reading (port {n})"),
    Theme("RuntimeError", "java.lang.IllegalMonitorStateException", "{what}: lock is held by thread {n}"),
)
VICTIM = (Theme(*_ASSERTION, "{what}: leftover state: registry already has an entry at {hex}"),)
BRITTLE = (Theme("KeyError", "java.lang.IllegalStateException", "{what}: the locale has not been set up yet"),)
TIME_OF_DAY = (Theme(*_ASSERTION, "{what}: due date {date} is not the expected date of today"),)
ASYNC = (
    Theme(
        "TimeoutError", "java.util.concurrent.TimeoutException", "{what}: timed out after {detail} s waiting for event"
    ),
)
ENVIRONMENT = (Theme(*_ASSERTION, "{what}: unexpected line ending on {detail} at offset {n}"),)
REGRESSION = (Theme(*_ASSERTION, "{what}: expected status 200 & a body, got 500 (request {n})"),)
CLUSTER = (
    Theme("OperationalError", "java.sql.SQLTransactionRollbackException", "{detail}: deadlock detected ({n})", True),
    Theme("IndexUnavailable", "com.example.shop.IndexUnavailable", "{detail}: index {hex} is being rebuilt", True),
    Theme("ChannelClosed", "com.example.shop.ChannelClosed", "{detail}: channel {n} was closed by the broker", True),
    Theme("LicenceExpired", "com.example.shop.LicenceExpired", "{detail}: no licence left in pool {n}", True),
    Theme("CacheCorrupted", "com.example.shop.CacheCorrupted", "{detail}: segment {hex} fails its checksum", True),
)
SERVICES = ("payments", "mail", "identity", "pricing", "warehouse", "analytics", "notifications")
"""Which service a shared cause lies in."""
INCIDENT = (
    Theme("ConnectionRefusedError", "java.net.ConnectException", "Connection refused: 10.0.0.5:{n}", True),
    Theme("OSError", "java.io.IOException", "[Errno 28] No space left on device: '/tmp/build-{n}/out'", True),
)


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason that executions of one test, or of several, fail for."""

    theme: Theme
    number: int = -1
    """The test; -1 where it is shared."""
    detail: str = ""
    timeout: float = 0.0
    """Seconds after which it fails; 0 where it fails as fast as it passes."""
    quick: bool = False
    """It fails at once."""


@dataclass(frozen=True, slots=True)
class Words:
    """One failure as a report tells it."""

    error: bool
    type: str
    message: str
    text: str


def is_error(cause: Cause, style: Style) -> bool:
    """pytest calls errors what fails in the setup, Surefire what is no failed assertion."""
    return cause.theme.shared if style is Style.PYTEST else cause.theme.java != _ASSERTION[1]


def words(cause: Cause, names: Names, salt: int) -> Words:
    """The failure's words; another `salt`, another time."""
    changing = {
        "n": 1_024 + salt * 7_919 % 60_000,
        "hex": f"0x7f{salt * 104_729 % 0xFFFFFF:06x}",
        "date": datetime.fromtimestamp(1_767_600_000 + salt % 700 * 86_400, UTC).date().isoformat(),
    }
    what = names.phrase(cause.number) if cause.number >= 0 else ""
    said = cause.theme.message.format(what=what, detail=cause.detail, **changing)
    write = _pytest if names.style is Style.PYTEST else _surefire
    return write(cause, names, said, salt)


def _pytest(cause: Cause, names: Names, said: str, salt: int) -> Words:
    said = f"{cause.theme.python}: {said}"
    line, address = 10 + salt % 80, f"0x7f{salt % 0xFFFFFF:06x}"
    if cause.theme.shared:
        head = f"request = <SubRequest 'backend' at {address}>\n\n    @pytest.fixture\n    def backend(request):\n"
        text = f"{head}>       yield start(request)\nE       {said}\n\ntests/conftest.py:{line}: {cause.theme.python}"
        return Words(True, "", f'failed on setup with "{said}"', text)
    _, classname, name, file = names.tests[cause.number]
    head = f"self = <{classname} object at {address}>\n\n    def {name}(self):\n"
    text = f"{head}>       self.check()\nE       {said}\n\n{file}:{line}: {cause.theme.python}"
    return Words(False, "", said, text)


def _surefire(cause: Cause, names: Names, said: str, salt: int) -> Words:
    line = 10 + salt % 80
    if cause.theme.shared:
        calls = [f"com.example.shop.testing.{call}" for call in ("Backend.request", "Backend.start", "Setup.before")]
        frames = [f"{call}({call.split('.')[-2]}.java:{line})" for call in calls]
    else:
        _, classname, name, _ = names.tests[cause.number]
        frames = [f"{classname}.{name}({classname.rpartition('.')[2]}.java:{line})"]
    trace = "".join(f"\tat {frame}\n" for frame in frames)
    return Words(is_error(cause, Style.SUREFIRE), cause.theme.java, said, f"{cause.theme.java}: {said}\n{trace}")
