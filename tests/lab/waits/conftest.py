"""The client is imported from this checkout; tests of it need no database."""

from __future__ import annotations

import sys

from tests.client.conftest import CLIENT, _no_ci, server

if str(CLIENT) not in sys.path:
    sys.path.insert(0, str(CLIENT))

__all__ = ["_no_ci", "server"]
