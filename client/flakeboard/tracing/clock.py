"""The clocks that recording itself uses: taken before anything is wrapped or replaced."""

from __future__ import annotations

import sys
import time
from threading import get_ident

now_ns = time.perf_counter_ns
wall = time.time
sleep = time.sleep
ident = get_ident
frame_at = sys._getframe
