"""What a process tells its audit hooks: files that are opened, folders that are listed, children that are started.

A hook cannot be taken away again, so there is one, which does nothing while nobody listens."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

_LISTINGS = frozenset(("os.listdir", "os.scandir"))
_CHILDREN = frozenset(
    (
        *("subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system"),
        *("os.startfile", "pty.spawn"),
    )
)
_SOURCES = {
    **dict.fromkeys(("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"), "network"),
    "time.sleep": "async wait",
    **dict.fromkeys(("_thread.start_new_thread", "_thread.start_joinable_thread"), "concurrency"),
}
_READERS = ("linecache.py", "tokenize.py", "inspect.py", "<frozen importlib", "rewrite.py", "_bootstrap_external.py")
"""Files of whoever reads source text to run or to show it, and not as data."""
_PYTHON = (".py", ".pyc", ".pyi")


class Listener:
    """Told of what happens; its methods must not open files themselves."""

    def on_file(self, path: str) -> None: ...

    def on_folder(self, path: str) -> None: ...

    def on_child(self) -> None: ...

    def on_source(self, category: str) -> None: ...


_listeners: list[Listener] = []
_is_hooked: list[bool] = []


def listen(listener: Listener) -> None:
    """From now on the listener is told."""
    if not _is_hooked:
        _is_hooked.append(True)
        sys.addaudithook(_hook)
    _listeners[:] = [listener]


def unlisten() -> None:
    _listeners.clear()


def _hook(event: str, arguments: Any) -> None:
    """An error here would fail what is audited, so none leaves."""
    if not _listeners:
        return
    handle = _HANDLERS.get(event)
    if handle is not None:
        try:
            handle(_listeners[0], event, arguments)
        except Exception:
            return


def _opened(listener: Listener, event: str, arguments: Any) -> None:
    path, mode = arguments[0], arguments[1]
    if isinstance(mode, str) and "+" not in mode and mode[:1] in ("w", "x", "a"):
        return
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if isinstance(path, str) and not (path.endswith(_PYTHON) and _is_source_reader()):
        listener.on_file(path)


def _is_source_reader() -> bool:
    frame = sys._getframe(3)
    for _ in range(4):
        if frame is None:
            return False
        if any(mark in frame.f_code.co_filename for mark in _READERS):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _listed(listener: Listener, event: str, arguments: Any) -> None:
    path = arguments[0]
    if path is None:
        path = "."
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if isinstance(path, str):
        listener.on_folder(path)


def _connected(listener: Listener, event: str, arguments: Any) -> None:
    """A database file is opened by its library, which asks nobody for the file."""
    _opened(listener, event, (arguments[0], "r"))


_HANDLERS: dict[str, Callable[[Listener, str, Any], None]] = {
    "open": _opened,
    "sqlite3.connect": _connected,
    **dict.fromkeys(_LISTINGS, _listed),
    **dict.fromkeys(_CHILDREN, lambda listener, event, arguments: listener.on_child()),
    **dict.fromkeys(_SOURCES, lambda listener, event, arguments: listener.on_source(_SOURCES[event])),
}
