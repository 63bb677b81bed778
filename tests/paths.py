"""Where the files are that tests read."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCERS = ROOT / "tests" / "data" / "producers"
DATA = Path(os.environ.get("FLAKEBOARD_DATA", ROOT.parent / "shared" / "data"))

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real reports is not here")
