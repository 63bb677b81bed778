"""Without a browser the tests fail with a sentence that helps, and are left out only where somebody says so."""

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import wanted_chromium
from tests.browser.provision import NO_BROWSER, chromium
from tests.conftest import ROOT
from tests.extent import only_whole


def run_browser_tests(**environment: str) -> subprocess.CompletedProcess[str]:
    """One browser test in a process of its own, which comes to no database."""
    command = [sys.executable, "-m", "pytest", "-rs", "tests/browser/test_provision.py", "-k", "a_browser_opens"]
    alone = {**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:9/none", **environment}
    return subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=False)


def test_a_browser_opens(browser: Browser) -> None:
    assert browser.is_connected()


def test_no_browser_fails_and_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FLAKEBOARD_CHROMIUM", str(tmp_path / "none"))
    monkeypatch.delenv("FLAKEBOARD_NO_BROWSER", raising=False)
    with pytest.raises(pytest.fail.Exception, match=re.escape(NO_BROWSER)):
        wanted_chromium()


def test_no_browser_is_left_out_where_somebody_says_so(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FLAKEBOARD_CHROMIUM", str(tmp_path / "none"))
    monkeypatch.setenv("FLAKEBOARD_NO_BROWSER", "1")
    with pytest.raises(pytest.skip.Exception, match="FLAKEBOARD_NO_BROWSER=1"):
        wanted_chromium()


@only_whole
def test_a_run_of_pytest_without_a_browser_fails_or_skips(tmp_path) -> None:
    """What the two tests above show of the fixture alone."""
    outcome = run_browser_tests(FLAKEBOARD_CHROMIUM=str(tmp_path / "none"), FLAKEBOARD_NO_BROWSER="")
    assert outcome.returncode == 1
    assert NO_BROWSER in outcome.stdout
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
