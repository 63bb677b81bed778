"""A clock at another time, in the laboratory only: `time`, and `datetime` by subclasses; `monotonic` never."""

from __future__ import annotations

import datetime
import sys
import time
from typing import Any, Callable, Mapping

from flakeboard.traces.sources import Source
from flakeboard.tracing.clock import wall
from flakeboard.tracing.recorder import Recorder

READINGS = ("time.time", "time.time_ns", "time.localtime", "time.gmtime", "time.strftime")
_MARGIN = 0.001
_datetime, _date = datetime.datetime, datetime.date
_localtime, _gmtime, _strftime = time.localtime, time.gmtime, time.strftime
_PARTS = {"second": 1, "minute": 60, "hour": 3_600}


class ClockOffset:
    """Offset by what a recipe says: `{"before": "hour"}` is just before the next one, `{"minute": 58}` sets a part."""

    def __init__(self, recorder: Recorder, wish: Mapping[str, Any]) -> None:
        self._recorder = recorder
        self._wish = dict(wish)
        self._offset: float | None = None
        self._bound: list[tuple[Any, str, Any]] = []

    def now(self) -> float:
        """The first reading decides the offset, so that what comes before it takes no time."""
        now = wall()
        if self._offset is None:
            self._offset = self._offset_at(now)
        return now + self._offset

    def _offset_at(self, now: float) -> float:
        if "before" in self._wish:
            return _next(now, self._wish["before"]) - _MARGIN - now
        if "after" in self._wish:
            return _next(now, self._wish["after"]) + _MARGIN - now
        local = _datetime.fromtimestamp(now)
        given = {name: int(value) for name, value in self._wish.items()}
        try:
            return local.replace(**given).timestamp() - now  # type: ignore[arg-type]
        except ValueError:
            return 0.0

    def shifted(self, name: str) -> Callable[[Any], Any]:
        """What makes the answer of a reading one of this clock; readings of a given moment stay."""
        makers: dict[str, Callable[[Any], Any]] = {
            "time.time": lambda real: self.now(),
            "time.time_ns": lambda real: int(self.now() * 1e9),
            "time.localtime": lambda real: _localtime(self.now()) if _is_now(real, _localtime) else real,
            "time.gmtime": lambda real: _gmtime(self.now()) if _is_now(real, _gmtime) else real,
            "time.strftime": lambda real: real,
        }
        return makers[name]

    def begin(self) -> None:
        self._offset = None
        moved, day = _subclasses(self._recorder, self)
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            file = getattr(module, "__file__", None)
            own = module is datetime or (isinstance(file, str) and self._recorder.sites.file_of(file) is not None)
            for name, value in list(names.items()) if own and names else ():
                if value is _datetime or value is _date:
                    self._bound.append((module, name, value))
                    setattr(module, name, moved if value is _datetime else day)

    def end(self) -> None:
        for module, name, value in self._bound:
            setattr(module, name, value)
        self._bound = []


def _is_now(real: time.struct_time, convert: Callable[[], time.struct_time]) -> bool:
    return abs(time.mktime(real) - time.mktime(convert())) <= 1


def _next(now: float, part: str) -> float:
    """The moment at which the next second, minute, hour, day or month begins, in local time."""
    if part in _PARTS:
        local = now + _datetime.fromtimestamp(now).astimezone().utcoffset().total_seconds()  # type: ignore[union-attr]
        return now + _PARTS[part] - local % _PARTS[part]
    midnight = _datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    if part == "month":
        return (midnight.replace(day=28) + datetime.timedelta(days=4)).replace(day=1).timestamp()
    return (midnight + datetime.timedelta(days=1)).timestamp()


def _subclasses(recorder: Recorder, clock: ClockOffset) -> tuple[type, type]:
    """`datetime` and `date` that read this clock and are recorded; instances of the real types count as theirs."""

    class _Meta(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, _datetime if cls.__name__ == "datetime" else _date)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, _datetime if cls.__name__ == "datetime" else _date)

    def read(name: str, make: Callable[[], Any]) -> Any:
        source = Source("datetime", name, "time")
        return recorder.call(source, make, (), {}) if recorder.active else make()

    class moved(_datetime, metaclass=_Meta):  # noqa: N801 - it stands for datetime
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return read("datetime.now", lambda: _datetime.fromtimestamp(clock.now(), tz))

        @classmethod
        def utcnow(cls) -> Any:
            return read("datetime.utcnow", lambda: _datetime(*_gmtime(clock.now())[:6], int(clock.now() % 1 * 1e6)))

        @classmethod
        def today(cls) -> Any:
            return read("datetime.now", lambda: _datetime.fromtimestamp(clock.now()))

    class day(_date, metaclass=_Meta):  # noqa: N801 - it stands for date
        @classmethod
        def today(cls) -> Any:
            return read("date.today", lambda: _date.fromtimestamp(clock.now()))

    for made, name in ((moved, "datetime"), (day, "date")):
        made.__name__ = made.__qualname__ = name
        made.__module__ = "datetime"
    return moved, day
