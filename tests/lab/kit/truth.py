"""What makes each test of the kit flaky: what a tool must name to be right."""

from __future__ import annotations

from typing import NamedTuple


class Truth(NamedTuple):
    number: int
    test: str
    category: str
    truth: str
    """In words."""
    callees: tuple[str, ...] = ()
    """A difference at one of these calls is right."""
    facts: tuple[str, ...] = ()
    """So is one of these facts of a run."""
    other_categories: tuple[str, ...] = ()
    """Categories that are right as well."""
    or_nothing: bool = False
    """The answer "nothing that was recorded differs" is right, too."""

    @property
    def twin(self) -> str:
        return self.test + "_stable"


_SLEEP = "time.sleep"
KIT = (
    Truth(1, "kit_randomness.py::test_price", "randomness", "that call", ("random.random", "code:is_discounted")),
    Truth(
        2,
        "kit_randomness.py::test_mean",
        "randomness",
        "the random seed decides; no single call",
        ("code:mean_of",),
        ("random",),
    ),
    Truth(
        3,
        "kit_randomness.py::test_ids",
        "randomness",
        "second call, same as before",
        ("random.randrange", "code:new_id"),
        ("random",),
    ),
    Truth(4, "kit_time.py::test_stamps", "time", "second reading, same", ("time.time", "code:stamp")),
    Truth(5, "kit_time.py::test_same_second", "time", "boundary of a second between them", ("datetime.datetime.now",)),
    Truth(
        6,
        "kit_time.py::test_minute",
        "time",
        "minute of the reading",
        ("datetime.datetime.now", "code:is_quiet_hour"),
        ("minute",),
    ),
    Truth(7, "kit_time.py::test_today", "time", "zone", (), ("zone", "utc_offset", "utc_day_differs"), ("platform",)),
    Truth(
        8,
        "kit_waits.py::test_sleep",
        "async wait",
        "set after the sleep's end",
        (_SLEEP, "end of thread", "threading.Event.set", "code:Worker.run"),
        (),
        ("concurrency",),
    ),
    Truth(9, "kit_waits.py::test_event", "async wait", "that call", ("threading.Event.wait",), (), ("timeout",)),
    Truth(
        10,
        "kit_waits.py::test_task",
        "async wait",
        "order of two tasks",
        ("asyncio.sleep", "end of task"),
        (),
        ("concurrency",),
    ),
    Truth(
        11,
        "kit_waits.py::test_timeout",
        "timeout",
        "that call, raised",
        ("asyncio.wait_for", "asyncio.sleep"),
        (),
        ("async wait",),
    ),
    Truth(
        12,
        "kit_concurrency.py::test_order",
        "concurrency",
        "order of roles",
        (_SLEEP, "end of thread", "code:append"),
        (),
        ("async wait",),
    ),
    Truth(
        13,
        "kit_concurrency.py::test_counter",
        "concurrency",
        "order",
        (_SLEEP, "end of thread", "threading.Thread.start", "code:Counter.add", "threading.Thread.join"),
        (),
        ("async wait",),
    ),
    Truth(
        14,
        "kit_concurrency.py::test_queue",
        "concurrency",
        "order, Empty raised",
        ("queue.Queue.get", "queue.Queue.put", _SLEEP),
        (),
        ("async wait",),
    ),
    Truth(
        15,
        "kit_network.py::test_status",
        "network",
        "status of that request",
        ("http.client.HTTPConnection.getresponse", "code:status_of"),
    ),
    Truth(
        16,
        "kit_network.py::test_connect",
        "network",
        "connect, ECONNREFUSED",
        ("socket.socket.connect", _SLEEP, "end of thread"),
        (),
        ("async wait", "concurrency"),
    ),
    Truth(17, "kit_network.py::test_port", "network", "bind, EADDRINUSE", ("socket.socket.bind",)),
    Truth(
        18, "kit_unordered.py::test_listing", "unordered collections", "listing order", ("os.listdir", "code:names_in")
    ),
    Truth(19, "kit_unordered.py::test_joined", "unordered collections", "the hash seed decides", (), ("hash",)),
    Truth(20, "kit_io.py::test_left", "IO", "result of exists", ("os.path.exists",)),
    Truth(
        21,
        "kit_order.py::test_usual",
        "order dependency",
        "the tests before",
        (),
        ("tests_before", "position", "is_first"),
    ),
    Truth(
        22,
        "kit_leaks.py::test_descriptors",
        "resource leak",
        "descriptors",
        ("os.listdir", "code:open_descriptors"),
        ("descriptors_before",),
        ("unordered collections", "IO"),
    ),
    Truth(
        23,
        "kit_unordered.py::test_total",
        "unordered collections",
        "the hash seed decides",
        (),
        ("hash",),
        ("floating point",),
    ),
    Truth(
        24,
        "kit_waits.py::test_cold_cache",
        "async wait",
        "that call slow",
        (_SLEEP, "code:load", "code:rate", "time.perf_counter"),
        ("is_first",),
        ("time",),
    ),
    Truth(
        25,
        "kit_leaks.py::test_collected",
        "resource leak",
        "gc fact, or nothing recorded",
        (),
        ("gc_before",),
        (),
        True,
    ),
    Truth(
        26,
        "kit_time.py::test_elapsed",
        "too restrictive range",
        "elapsed between two readings",
        ("time.perf_counter", _SLEEP),
        (),
        ("time", "async wait"),
    ),
)


def names(truth: Truth, difference: dict[str, object]) -> bool:
    """Whether a difference, as `flakeboard why --json` has it, names the truth."""
    if difference.get("fact"):
        return difference["fact"] in truth.facts
    return bool({difference.get("callee"), difference.get("other_callee")} & set(truth.callees))


def categories(truth: Truth) -> set[str]:
    return {truth.category, *truth.other_categories}
