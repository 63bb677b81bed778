"""Everything that watches values, set and taken back together."""

from __future__ import annotations

import sys
import unittest
from typing import Any

from flakeboard.values.asserts import AssertionWatch
from flakeboard.values.functions import MODULES, FunctionWatch
from flakeboard.values.imports import ImportWatch
from flakeboard.values.recorder import Recorder


class ValueWatch:
    def __init__(self, root: str) -> None:
        self.recorder = Recorder(root)
        self._asserts = AssertionWatch(self.recorder)
        self._functions = FunctionWatch(self.recorder)
        self._imports = ImportWatch(MODULES, self._imported)
        self.sees_asserts = False
        """Whether this pytest hands over what plain assertions compare."""

    def start(self, config: Any) -> None:
        self.sees_asserts = self._asserts.start(config)
        self._functions.watch("math", sys.modules["math"])
        self._functions.watch("unittest.TestCase", unittest.TestCase)
        self._imports.start()

    def stop(self) -> None:
        self._imports.stop()
        self._functions.stop()
        self._asserts.stop()

    def _imported(self, name: str, module: Any) -> None:
        if name == "tensorflow":
            case = getattr(getattr(module, "test", None), "TestCase", None)
            if isinstance(case, type):
                self._functions.watch("tensorflow.test.TestCase", case)
        else:
            self._functions.watch(name, module)
