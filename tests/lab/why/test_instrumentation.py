"""The rules of instrumentation: what is recorded, and that a program does not notice it."""

from __future__ import annotations

import inspect
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from flakeboard.traces.trace import FAILED
from flakeboard.tracing import recorder, watch

from tests.lab.why.recording import load, record, run, session_of

DRAWS = "import random, time\ndef test():\n    time.sleep(0)\n    return random.random()\n"


def test_calls_of_sources_are_recorded_with_site_and_value(tmp_path: Path) -> None:
    recorded = record(tmp_path, DRAWS)
    (drawn,) = recorded.of("random.random")
    assert drawn.value == pytest.approx(recorded.result, abs=1e-5)
    assert (drawn.role, drawn.site.file, drawn.site.function, drawn.site.nth, drawn.site.line) == (
        *("main", "project.py", "test", 1, 4),
    )
    assert [call.callee for call in recorded.calls] == ["time.sleep", "random.random"]


def test_nothing_is_recorded_outside_of_a_test(tmp_path: Path) -> None:
    with session_of(tmp_path) as session:
        module = load(tmp_path, DRAWS)
        module.test()
        run(session, lambda: None)
        module.test()
    assert b"random.random" not in Path(session.path).read_bytes()


def test_only_the_outermost_source_is_recorded(tmp_path: Path) -> None:
    source = "import random, queue\ndef test():\n    random.Random(1).gauss(0, 1)\n    queue.Queue().put(1)\n"
    assert [call.callee for call in record(tmp_path, source).calls] == ["random.Random.gauss", "queue.Queue.put"]


def test_without_a_frame_of_the_project_nothing_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with session_of(tmp_path / "project") as session:
        outside = load(tmp_path, DRAWS, "library")
        run(session, outside.test)
    assert b"random.random" not in Path(session.path).read_bytes()


def test_code_in_a_package_that_the_project_names_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "shop").mkdir()
    with session_of(tmp_path / "project", code=["shop"]) as session:
        run(session, load(tmp_path / "shop", DRAWS, "price").test)
    assert b'"shop/price.py"' in Path(session.path).read_bytes()


def test_a_caller_is_looked_for_thirty_frames_up(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    deep = "import random\ndef down(n):\n    return random.random() if n == 0 else down(n - 1)\n"
    library = load(tmp_path, deep, "library")
    with session_of(tmp_path / "project") as session:
        module = load(tmp_path / "project", "def near(f):\n    f(27)\ndef far(f):\n    f(30)\n")
        run(session, lambda: module.near(library.down), "near")
        run(session, lambda: module.far(library.down), "far")
    lines = Path(session.path).read_text().splitlines()
    assert [line for line in lines if '"near"' in line and '"site":[0]' in line]
    assert [line for line in lines if '"far"' in line and '"site":[]' in line]


def test_event_loops_and_loggers_read_the_clock_for_themselves(tmp_path: Path) -> None:
    source = (
        "import asyncio, logging\nasync def a():\n    await asyncio.sleep(0.001)\n"
        "def test():\n    asyncio.run(a())\n    logging.getLogger('x').warning('y')\n"
    )
    assert {call.callee for call in record(tmp_path, source).calls} <= {
        *("asyncio.sleep", "asyncio.BaseEventLoop.create_task", "end of task"),
    }


# -- wrappers ----------------------------------------------------------------------------------------------------


def test_a_wrapper_keeps_name_docstring_signature_and_can_be_pickled(tmp_path: Path) -> None:
    before = {function: (function.__name__, function.__doc__) for function in (time.sleep, threading.Event.wait)}
    signature = inspect.signature(threading.Event.wait)
    with session_of(tmp_path):
        assert [(f.__name__, f.__doc__) for f in (time.sleep, threading.Event.wait)] == list(before.values())
        assert inspect.signature(threading.Event.wait) == signature
        assert pickle.loads(pickle.dumps(time.sleep)) is time.sleep
        assert time.sleep not in before
    assert [time.sleep, threading.Event.wait] == list(before)


def test_a_wrapped_builtin_is_no_method(tmp_path: Path) -> None:
    """A class that keeps `time.time` as an attribute calls it without self."""
    source = "import time\nclass Timer:\n    now = time.time\ndef test():\n    return Timer().now()\n"
    assert record(tmp_path, source).result > 1e9


def test_what_was_inherited_is_inherited_again_afterwards(tmp_path: Path) -> None:
    assert "random" not in random.Random.__dict__
    with session_of(tmp_path):
        assert "random" in random.Random.__dict__
    assert "random" not in random.Random.__dict__


def test_a_replaced_source_is_left_alone_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that freezes something keeps the function that it found, which is our wrapper, and calls it."""
    source = "import os\ndef test():\n    return os.cpu_count()\n"
    with session_of(tmp_path) as session:
        module, found = load(tmp_path, source), os.cpu_count
        monkeypatch.setattr(os, "cpu_count", lambda: found() and 42)
        assert run(session, module.test) == 42
        monkeypatch.undo()
    content = Path(session.path).read_text()
    assert '"replaced":"os.cpu_count"' in content and '"site":[]' in content


def test_the_clock_is_left_to_a_library_that_writes_into_its_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """time-machine replaces what the built-in functions do, in C: they must be there when it comes, and from then on."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "time_machine.py").write_text("import time\nfound = time.time\n")
    before = sys.modules.pop("time_machine", None)
    builtin = time.time
    with session_of(tmp_path):
        wrapped, sleep = time.time, time.sleep
        import time_machine  # type: ignore[import-not-found]

        assert wrapped is not builtin and time.time is builtin and time.sleep is sleep
        assert time_machine.__name__ == "time_machine"
    with session_of(tmp_path):
        assert time.time is builtin and time.sleep is not sleep.__wrapped__  # type: ignore[attr-defined]
    del sys.modules["time_machine"]
    if before is not None:
        sys.modules["time_machine"] = before


def test_modules_that_are_imported_later_are_wrapped_then(tmp_path: Path) -> None:
    name = "flakeboard_made_gateway"
    (tmp_path / f"{name}.py").write_text(
        "def call():\n    return 7\nclass Client:\n    def ask(self):\n        return 8\n"
    )
    source = f"def test():\n    import {name} as g\n    return g.call(), g.Client().ask()\n"
    sys.path.insert(0, str(tmp_path))
    try:
        named = [f"{name}.call", f"{name}.Client.ask", "-random.random", "no_such_module.f"]
        recorded = record(tmp_path, source + "import random\n", sources=named)
        assert sys.modules[name].__spec__.loader is sys.modules[name].__loader__
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop(name, None)
    assert recorded.result == (7, 8)
    assert [(call.callee, call.value) for call in recorded.calls] == [(f"{name}.call", 7), (f"{name}.Client.ask", 8)]
    assert recorded.session.missing_sources == ["no_such_module.f"]


def test_names_that_a_package_took_from_its_modules_are_put_back(tmp_path: Path) -> None:
    """`asyncio.sleep` is `asyncio.tasks.sleep`, also where asyncio is imported while wrappers are set."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom tests.lab.why.recording import session_of\n"
        "assert 'asyncio' not in sys.modules\n"
        "with session_of(Path(sys.argv[1])):\n    import asyncio\n    wrapper = asyncio.sleep\n"
        "assert asyncio.sleep is asyncio.tasks.sleep is wrapper.__wrapped__\n"
    )
    root = Path(__file__).resolve().parents[3]
    environ = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'client'}"}
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=environ, check=True)


def test_dropped_sources_are_not_recorded(tmp_path: Path) -> None:
    recorded = record(tmp_path, DRAWS, sources=["-random.random", "-no.such"])
    assert [call.callee for call in recorded.calls] == ["time.sleep"]
    assert recorded.session.notes == ["flakeboard_sources drops no.such, which is none"]


def test_the_time_of_a_wrapper_is_taken_out_of_durations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of recording is made to tick once a reading: an inner source costs readings, and its caller nothing."""
    ticks = iter(range(0, 10**9, 1_000_000))
    monkeypatch.setattr(recorder, "now_ns", lambda: next(ticks))
    source = "import gateway_of_time as g\ndef test():\n    g.outer()\n"
    inner = "import os\ndef outer():\n    os.cpu_count(); os.cpu_count(); os.cpu_count()\n"
    (tmp_path / "gateway_of_time.py").write_text(inner)
    monkeypatch.syspath_prepend(str(tmp_path))
    recorded = record(tmp_path, source, sources=["gateway_of_time.outer"])
    sys.modules.pop("gateway_of_time", None)
    assert {call.took for call in recorded.of("os.cpu_count")} == {1_000}
    (outer,) = recorded.of("gateway_of_time.outer")
    assert outer.took < 9 * 1_000, "three inner calls of four readings each are not its own"


def test_an_error_of_recording_is_counted_and_swallowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with session_of(tmp_path) as session:
        module = load(tmp_path, DRAWS)
        monkeypatch.setattr(session.recorder, "_value", lambda *given: 1 / 0)
        assert run(session, module.test) is not None
    assert '"trace_errors":2' in Path(session.path).read_text()


def test_an_exception_of_a_source_passes_and_is_told(tmp_path: Path) -> None:
    source = "import socket\ndef test():\n    s = socket.socket()\n    try:\n        s.connect(('127.0.0.1', 1))\n    finally:\n        s.close()\n"
    recorded = record(tmp_path, source)
    (call,) = recorded.of("socket.socket.connect")
    assert (recorded.trace.outcome, recorded.trace.raised) == (FAILED, "ConnectionRefusedError")
    assert (call.raised.type, call.raised.errno, call.about) == (
        "ConnectionRefusedError",
        "ECONNREFUSED",
        "127.0.0.1:1",
    )
    assert recorded.trace.symptoms == (0,)
    assert recorded.trace.failed_at >= recorded.trace.events[0].start


# -- other levels ------------------------------------------------------------------------------------------------

LEVELS = (
    "import datetime\ndef inner(n):\n    return n * 2\ndef test():\n    datetime.datetime.now()\n    return inner(3)\n"
)


def test_functions_are_reached(tmp_path: Path) -> None:
    recorded = record(tmp_path, LEVELS, level="functions")
    assert recorded.trace.reach is not None
    reached = [recorded.file.functions[number] for number in recorded.trace.reach]
    assert sorted((f.file, f.name, f.first, f.last) for f in reached) == [
        ("project.py", "inner", 2, 3),
        ("project.py", "test", 4, 6),
    ]


def test_every_call_of_the_project_is_recorded(tmp_path: Path) -> None:
    recorded = record(tmp_path, LEVELS, level="calls")
    assert [(call.callee, call.value) for call in recorded.calls][-1] == ("code:inner", 6)
    (reading,) = recorded.of("datetime.datetime.now")
    assert abs(reading.value - time.time()) < 3_600


@pytest.mark.parametrize(
    "inside",
    [
        "sum(each for each in range(3))",
        "sum([each for each in range(3)])",
        "(lambda: 3)()",
        "sum(counted())",
        "far(60)",
        "fact(3) - 3",
    ],
    ids=["generator expression", "comprehension", "lambda", "generator", "callback from afar", "recursion"],
)
def test_what_ends_inside_of_a_call_does_not_end_it(tmp_path: Path, inside: str) -> None:
    """A callback is followed up to thirty frames from the project's code; it ends all the same."""
    library = tmp_path / "site-packages" / "far_away.py"
    library.parent.mkdir()
    library.write_text("def down(left, callback):\n    return down(left - 1, callback) if left else callback()\n")
    source = (
        f"import sys\nsys.path.insert(0, {str(library.parent)!r})\nimport far_away\nsys.path.pop(0)\n"
        "def counted():\n    yield 1\n    yield 2\ndef three():\n    return 3\n"
        "def far(frames):\n    return far_away.down(frames, three)\n"
        "def fact(n):\n    return n * fact(n - 1) if n else 1\n"
        f"def inner():\n    return {inside}\ndef outer():\n    return inner() * 2\n"
        "def test():\n    return outer()\n"
    )
    recorded = record(tmp_path, source, level="calls")
    assert [call.value for call in (*recorded.of("code:inner"), *recorded.of("code:outer"))] == [3, 6]
    assert len(recorded.of("code:fact")) == (4 if "fact" in inside else 0)


def test_a_function_named_like_a_secret_gives_a_digest(tmp_path: Path) -> None:
    source = "def api_token():\n    return 123456\ndef test():\n    api_token()\n"
    (call,) = record(tmp_path, source, level="calls").of("code:api_token")
    assert call.value.type == "int" and call.value.digest and b"123456" not in repr(call.value).encode()


def test_a_profile_function_of_the_test_itself_stays(tmp_path: Path) -> None:
    """A test may set one: ours is then not put back over it."""
    source = "import sys\ndef own(*given): pass\ndef test():\n    sys.setprofile(own)\n    return own\n"
    recorded = record(tmp_path, source, level="calls")
    try:
        assert sys.getprofile() is recorded.result
    finally:
        sys.setprofile(None)


class FakeMonitoring:
    def __init__(self, taken: set[int]) -> None:
        self.taken = taken

    def get_tool(self, number: int) -> str | None:
        return "other" if number in self.taken else None


@pytest.mark.parametrize(
    ("taken", "level", "expected"),
    [({3, 4}, "calls", ("sources", True)), ({3, 4}, "functions", ("sources", True))],
    ids=["calls", "functions"],
)
def test_without_a_monitoring_id_sources_are_what_is_left(
    monkeypatch: pytest.MonkeyPatch, taken: set[int], level: str, expected: tuple[str, bool]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    monkeypatch.setattr(sys, "monitoring", FakeMonitoring(taken), raising=False)
    made, had, why = watch.watch_for(level, None)  # type: ignore[arg-type]
    assert (had, bool(why)) == expected and made is None
