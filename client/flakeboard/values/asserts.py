"""Plain assertions: pytest's rewriting hands over what was compared, also where the assertion holds.

Assertions that hold are explained only where a plugin asks for it. That is asked for here, but nothing is written as
text for it: the explanation is left empty unless another plugin wants it."""

from __future__ import annotations

import sys
import threading
from typing import Any

from flakeboard.values.recorder import Recorder

_OPTION = "enable_assertion_pass_hook"
_NAMES = ("_call_reprcompare", "_saferepr", "_check_if_assertion_pass_impl", "_call_assertion_pass", "PYC_TAIL")
_MARK = ".flakeboard-values"


class AssertionWatch:
    """Set before test modules are rewritten; taken back at the end."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._kept: dict[str, Any] = {}
        self._passing = threading.local()

    def start(self, config: Any) -> bool:
        """Whether this pytest allows it."""
        from _pytest.assertion import rewrite

        if not all(hasattr(rewrite, name) for name in _NAMES) or not hasattr(config, "_inicache"):
            return False
        self._kept = {name: getattr(rewrite, name) for name in _NAMES}
        config._inicache[_OPTION] = True
        # Modules that were rewritten without it stay in their own cache files.
        rewrite.PYC_TAIL = _MARK + self._kept["PYC_TAIL"]
        for name in _NAMES[:-1]:
            setattr(rewrite, name, getattr(self, name))
        return True

    def stop(self) -> None:
        from _pytest.assertion import rewrite

        for name, value in self._kept.items():
            setattr(rewrite, name, value)
        self._kept = {}

    def _check_if_assertion_pass_impl(self) -> bool:
        wanted = bool(self._kept["_check_if_assertion_pass_impl"]())
        self._passing.is_silent = self._recorder.is_on and not wanted
        return wanted or self._recorder.is_on

    def _saferepr(self, obj: Any) -> str:
        return "" if self._is_silent else self._kept["_saferepr"](obj)

    def _call_reprcompare(self, ops: Any, results: Any, expls: Any, each_obj: Any) -> str:
        self._recorder.compared(sys._getframe(1), ops, results, each_obj)
        return "" if self._is_silent else self._kept["_call_reprcompare"](ops, results, expls, each_obj)

    def _call_assertion_pass(self, lineno: int, orig: str, expl: str) -> None:
        is_silent, self._passing.is_silent = self._is_silent, False
        if not is_silent:
            self._kept["_call_assertion_pass"](lineno, orig, expl)

    @property
    def _is_silent(self) -> bool:
        return getattr(self._passing, "is_silent", False)
