"""The table of sources: functions whose answer may differ on the same code, by category.

Categories are the server's, by their names. A name is a module, a colon and the attribute in it."""

from __future__ import annotations

from typing import NamedTuple

TIME, ASYNC_WAIT, CONCURRENCY, RANDOMNESS = "time", "async wait", "concurrency", "randomness"
NETWORK, IO, PLATFORM, UNORDERED, LEAK = "network", "IO", "platform", "unordered collections", "resource leak"
ORDER, TIMEOUT, CODE = "order dependency", "timeout", ""


class Source(NamedTuple):
    module: str
    path: str
    """Attribute in the module: `sleep`, or `Event.wait`."""
    category: str
    about: str = ""
    """What its first argument is, if that may be told: a path, an address, a variable."""
    value: str = ""
    """How its result is told if not as it is: `secret`, `status`."""
    bound: tuple[int, str] | None = None
    """Where a wait has its time limit: position, counted without self, and keyword."""
    direct: bool = False
    """Event loops and loggers call it for themselves, which is not recorded."""
    is_method: bool = False

    @property
    def name(self) -> str:
        return f"{_PUBLIC.get(self.module, self.module)}.{self.path}"


_PUBLIC = {
    "concurrent.futures._base": "concurrent.futures",
    "concurrent.futures.thread": "concurrent.futures",
    "concurrent.futures.process": "concurrent.futures",
    "asyncio.tasks": "asyncio",
    "asyncio.timeouts": "asyncio",
    "asyncio.base_events": "asyncio",
    "asyncio.streams": "asyncio",
    "multiprocessing.process": "multiprocessing",
    "genericpath": "os.path",
    "requests.sessions": "requests",
    "httpx._client": "httpx",
    "aiohttp.client": "aiohttp",
    "numpy.random": "numpy.random",
    "builtins": "builtins",
}


def _of(module: str, category: str, names: str, **more: object) -> list[Source]:
    return [Source(module, name, category, is_method="." in name, **more) for name in names.split()]  # type: ignore[arg-type]


_DRAWS = (
    "random randrange randint choice choices shuffle sample uniform triangular gauss normalvariate lognormvariate"
    " expovariate vonmisesvariate gammavariate betavariate paretovariate weibullvariate getrandbits randbytes"
)
_CLOCKS = "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns localtime gmtime strftime"
_LEGACY = (
    "rand randn randint random random_sample choice shuffle permutation normal uniform standard_normal poisson bytes"
)

SOURCES: tuple[Source, ...] = (
    *_of("time", TIME, _CLOCKS, direct=True),
    *_of("time", ASYNC_WAIT, "sleep", bound=(0, "secs")),
    *_of("asyncio.tasks", ASYNC_WAIT, "sleep", bound=(0, "delay")),
    *_of("asyncio.tasks", ASYNC_WAIT, "wait_for", bound=(1, "timeout")),
    *_of("asyncio.tasks", ASYNC_WAIT, "wait", bound=(99, "timeout")),
    *_of("asyncio.timeouts", ASYNC_WAIT, "Timeout.__aexit__"),
    *_of("threading", ASYNC_WAIT, "Event.wait Condition.wait Barrier.wait Thread.join", bound=(0, "timeout")),
    *_of("threading", ASYNC_WAIT, "Condition.wait_for Semaphore.acquire", bound=(1, "timeout")),
    *_of("queue", ASYNC_WAIT, "Queue.get", bound=(1, "timeout")),
    *_of("queue", ASYNC_WAIT, "Queue.put", bound=(2, "timeout")),
    *_of("concurrent.futures._base", ASYNC_WAIT, "Future.result Future.exception", bound=(0, "timeout")),
    *_of("concurrent.futures._base", ASYNC_WAIT, "wait", bound=(1, "timeout")),
    *_of("subprocess", ASYNC_WAIT, "Popen.wait", bound=(0, "timeout")),
    *_of("subprocess", ASYNC_WAIT, "Popen.communicate", bound=(1, "timeout")),
    *_of("select", ASYNC_WAIT, "select", bound=(3, "timeout"), direct=True),
    *_of(
        "selectors",
        ASYNC_WAIT,
        "SelectSelector.select PollSelector.select EpollSelector.select",
        bound=(0, "timeout"),
        direct=True,
    ),
    *_of("threading", CONCURRENCY, "Thread.start Event.set Event.clear Condition.notify Condition.notify_all"),
    *_of("concurrent.futures.thread", CONCURRENCY, "ThreadPoolExecutor.submit"),
    *_of("concurrent.futures.process", CONCURRENCY, "ProcessPoolExecutor.submit"),
    *_of("multiprocessing.process", CONCURRENCY, "BaseProcess.start"),
    *_of("asyncio.base_events", CONCURRENCY, "BaseEventLoop.create_task"),
    *_of("random", RANDOMNESS, _DRAWS),
    *_of("random", RANDOMNESS, " ".join(f"Random.{name}" for name in _DRAWS.split())),
    *_of("random", RANDOMNESS, "SystemRandom.random SystemRandom.getrandbits"),
    *_of("os", RANDOMNESS, "urandom", value="secret"),
    *_of("secrets", RANDOMNESS, "token_bytes token_hex token_urlsafe choice randbelow randbits", value="secret"),
    *_of("uuid", RANDOMNESS, "uuid1 uuid4"),
    *_of("numpy.random", RANDOMNESS, _LEGACY + " default_rng"),
    *_of("socket", NETWORK, "socket.connect socket.connect_ex socket.bind", about="address"),
    *_of(
        "socket",
        NETWORK,
        "socket.accept socket.send socket.sendall socket.sendto socket.recv socket.recvfrom socket.recv_into",
    ),
    *_of("socket", NETWORK, "create_connection", about="address"),
    *_of("socket", NETWORK, "getaddrinfo"),
    *_of("ssl", NETWORK, "SSLSocket.do_handshake"),
    *_of("asyncio.streams", NETWORK, "open_connection"),
    *_of("http.client", NETWORK, "HTTPConnection.getresponse", value="status"),
    *_of("urllib.request", NETWORK, "urlopen", value="status"),
    *_of("requests.sessions", NETWORK, "Session.send", value="status"),
    *_of("httpx._client", NETWORK, "Client.send", value="status"),
    *_of("aiohttp.client", NETWORK, "ClientSession._request", value="status"),
    *_of("builtins", IO, "open", about="path", direct=True),
    *_of("os", IO, "open listdir scandir remove unlink rename replace mkdir makedirs rmdir", about="path", direct=True),
    *_of("os", IO, "walk", about="path", direct=True),
    *_of("os.path", IO, "exists isfile isdir getmtime getsize", about="path", direct=True),
    *_of(
        "pathlib",
        IO,
        "Path.exists Path.iterdir Path.glob Path.rglob Path.is_file Path.is_dir Path.stat",
        about="path",
        direct=True,
    ),
    *_of(
        "pathlib",
        IO,
        "Path.read_text Path.read_bytes Path.write_text Path.write_bytes Path.unlink Path.open",
        about="path",
        direct=True,
    ),
    *_of("glob", IO, "glob", direct=True),
    *_of("tempfile", IO, "mkdtemp mkstemp NamedTemporaryFile TemporaryFile gettempdir", direct=True),
    *_of("shutil", IO, "copy copyfile copytree rmtree move disk_usage", about="path", direct=True),
    *_of("os", PLATFORM, "_Environ.__getitem__", about="variable", direct=True),
    *_of("os", PLATFORM, "cpu_count getloadavg getpid", direct=True),
    *_of("platform", PLATFORM, "node platform system release version machine processor", direct=True),
    *_of("locale", PLATFORM, "getlocale getpreferredencoding", direct=True),
)
CLOCK = Source("datetime", "datetime.now", TIME)
"""`now`, `utcnow` and `today` belong to immutable types: they are seen by other means and told as seconds."""
CLOCK_NAMES = {"now": "datetime.datetime.now", "utcnow": "datetime.datetime.utcnow", "today": "datetime.date.today"}
_CATEGORIES = {source.name: source.category for source in SOURCES}
LISTINGS = frozenset(
    (
        "os.listdir",
        "os.scandir",
        "glob.glob",
        "pathlib.Path.iterdir",
        "pathlib.Path.glob",
        "pathlib.Path.rglob",
        "os.walk",
    )
)
ENDS = ("end of thread", "end of task", "begin of task")
"""Events of a role itself: the site is the one that started it."""


def category_of(callee: str) -> str:
    """The category of a callee; empty for the project's own code."""
    if callee in ENDS:
        return CONCURRENCY
    if callee in CLOCK_NAMES.values():
        return TIME
    return _CATEGORIES.get(callee, CODE)


def chosen(names: list[str]) -> tuple[list[Source], list[str]]:
    """The table with the names of the project's settings added, and without those that begin with a minus."""
    dropped = {name[1:].strip() for name in names if name.startswith("-")}
    known = {source.name for source in SOURCES}
    unknown = sorted(name for name in dropped if name not in known)
    kept = [source for source in SOURCES if source.name not in dropped]
    return [*kept, *(_own(name) for name in names if not name.startswith("-") and name not in known)], unknown


def _own(name: str) -> Source:
    """A source of the project: `shop.gateway.call`, or `shop.gateway.Client.call`: a class has a capital."""
    module, _, path = name.rpartition(".")
    outer, _, owner = module.rpartition(".")
    if outer and owner[:1].isupper():
        return Source(outer, f"{owner}.{path}", CODE, is_method=True)
    return Source(module, path, CODE)
