"""Without a browser the tests fail with a sentence that helps, and are left out only where somebody says so."""

import os
import subprocess
import sys

from playwright.sync_api import Browser

from tests.browser.provision import NO_BROWSER, chromium
from tests.conftest import ROOT


def run_browser_tests(**environment: str) -> subprocess.CompletedProcess[str]:
    """One browser test in a process of its own, which comes to no database."""
    command = [sys.executable, "-m", "pytest", "-rs", "tests/browser/test_provision.py", "-k", "a_browser_opens"]
    alone = {**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:9/none", **environment}
    return subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=False)


def test_a_browser_opens(browser: Browser) -> None:
    assert browser.is_connected()


def test_no_browser_fails_and_says_what_to_install(tmp_path) -> None:
    outcome = run_browser_tests(FLAKEBOARD_CHROMIUM=str(tmp_path / "none"), FLAKEBOARD_NO_BROWSER="")
    assert outcome.returncode == 1
    assert NO_BROWSER in outcome.stdout


def test_no_browser_is_left_out_where_somebody_says_so(tmp_path) -> None:
    outcome = run_browser_tests(FLAKEBOARD_CHROMIUM=str(tmp_path / "none"), FLAKEBOARD_NO_BROWSER="1")
    assert outcome.returncode == 0
    assert "1 skipped" in outcome.stdout


def test_a_named_browser_goes_before_one_on_the_path(tmp_path, monkeypatch) -> None:
    for name in ("named", "chromium"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLAKEBOARD_CHROMIUM", raising=False)
    assert chromium() == tmp_path / "chromium"
    monkeypatch.setenv("FLAKEBOARD_CHROMIUM", str(tmp_path / "named"))
    assert chromium() == tmp_path / "named"
