"""The text of a failure by its true cause: type, message and trace.

Numbers, addresses and dates in them differ each time; the signature does not."""

from dataclasses import dataclass
from datetime import UTC, datetime

from analytics.simulation.names import Names, Style


@dataclass(frozen=True, slots=True)
class Theme:
    """Texts for one kind of failure. Placeholders: {what} is the test; {detail}; {n}, {hex} and {date} vary."""

    python: str
    java: str
    message: str
    shared: bool = False
    """It comes from shared setup and names no test."""


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
"""The services that shared causes come from."""
INCIDENT = (
    Theme("ConnectionRefusedError", "java.net.ConnectException", "Connection refused: 10.0.0.5:{n}", True),
    Theme("OSError", "java.io.IOException", "[Errno 28] No space left on device: '/tmp/build-{n}/out'", True),
)
QUIET = (
    Theme("WorkerLost", "com.example.shop.testing.WorkerLost", "worker {n} went away while the test was running", True),
    Theme("BrowserClosed", "com.example.shop.testing.BrowserClosed", "page {hex} has crashed", True),
)
"""Incidents that do not mention a machine, besides those of `INCIDENT`."""
IMPORT = (
    Theme("ModuleNotFoundError", "java.lang.NoClassDefFoundError", "No module named 'shop.{detail}'", True),
    Theme("ModuleNotFoundError", "java.lang.NoClassDefFoundError", "No module named 'tests.support.{detail}'", True),
)
DEPENDENCY = (
    Theme("ImportError", "java.lang.NoSuchMethodError", "cannot import name 'url_quote' from 'werkzeug.urls'", True),
    Theme("TypeError", "java.lang.NoSuchMethodError", "{what}: got an unexpected keyword argument 'retries' ({n})"),
)
SERVICE = (Theme(*_ASSERTION, "{what}: expected status 200, got 410: /v1/{detail} has moved (request {n})"),)


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason for failures of one or several tests."""

    theme: Theme
    number: int = -1
    """The test; -1 for a shared cause."""
    detail: str = ""
    timeout: float = 0.0
    """Seconds after which it fails; 0 if it fails as fast as it passes."""
    quick: bool = False
    """It fails at once."""


@dataclass(frozen=True, slots=True)
class FailureText:
    """A failure as written in a report."""

    error: bool
    type: str
    message: str
    text: str


def is_error(cause: Cause, style: Style) -> bool:
    """Whether it is an error: for pytest a failure in setup, for Surefire anything but a failed assertion."""
    return cause.theme.shared if style is Style.PYTEST else cause.theme.java != _ASSERTION[1]


def words(cause: Cause, names: Names, salt: int) -> FailureText:
    """The failure's text; `salt` varies its volatile parts."""
    changing = {
        "n": 1_024 + salt * 7_919 % 60_000,
        "hex": f"0x7f{salt * 104_729 % 0xFFFFFF:06x}",
        "date": datetime.fromtimestamp(1_767_600_000 + salt % 700 * 86_400, UTC).date().isoformat(),
    }
    what = names.phrase(cause.number) if cause.number >= 0 else ""
    message = cause.theme.message.format(what=what, detail=cause.detail, **changing)
    write = _pytest if names.style is Style.PYTEST else _surefire
    return write(cause, names, message, salt)


def _pytest(cause: Cause, names: Names, message: str, salt: int) -> FailureText:
    message = f"{cause.theme.python}: {message}"
    line, address = 10 + salt % 80, f"0x7f{salt % 0xFFFFFF:06x}"
    if cause.theme.shared:
        head = f"request = <SubRequest 'backend' at {address}>\n\n    @pytest.fixture\n    def backend(request):\n"
        text = (
            f"{head}>       yield start(request)\nE       {message}\n\ntests/conftest.py:{line}: {cause.theme.python}"
        )
        return FailureText(True, "", f'failed on setup with "{message}"', text)
    _, classname, name, file = names.tests[cause.number]
    head = f"self = <{classname} object at {address}>\n\n    def {name}(self):\n"
    text = f"{head}>       self.check()\nE       {message}\n\n{file}:{line}: {cause.theme.python}"
    return FailureText(False, "", message, text)


def _surefire(cause: Cause, names: Names, message: str, salt: int) -> FailureText:
    line = 10 + salt % 80
    if cause.theme.shared:
        calls = [f"com.example.shop.testing.{call}" for call in ("Backend.request", "Backend.start", "Setup.before")]
        frames = [f"{call}({call.split('.')[-2]}.java:{line})" for call in calls]
    else:
        _, classname, name, _ = names.tests[cause.number]
        frames = [f"{classname}.{name}({classname.rpartition('.')[2]}.java:{line})"]
    trace = "".join(f"\tat {frame}\n" for frame in frames)
    return FailureText(
        is_error(cause, Style.SUREFIRE), cause.theme.java, message, f"{cause.theme.java}: {message}\n{trace}"
    )
