"""IO: a file that an earlier run left behind."""

import os
import tempfile

from jitter import jitter

LEFT = os.path.join(tempfile.gettempdir(), "flakeboard-kit-left")


def test_left():
    if os.path.exists(LEFT):
        os.remove(LEFT)
        raise AssertionError("there is a file already")
    if jitter(0, 1) < 0.5:
        open(LEFT, "w").close()


def test_left_stable(tmp_path):
    assert not os.path.exists(tmp_path / "left")
