"""The package of orders is the client's; these tests need neither database nor Django."""

from __future__ import annotations

import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[3] / "client"
if str(CLIENT) not in sys.path:
    sys.path.insert(0, str(CLIENT))
