"""Values of approximate assertions: every form, and nothing else about the session changes."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.client.commands import CLIENT, environ_with
from tests.client.provision import oldest_pytest, oldest_python_with_pytest
from tests.client.starter import start
from tests.client.values.forms import write_forms

PLUGIN = ("-p", "flakeboard.pytest_plugin")


def session(folder: Path, *words: str, python: str = sys.executable) -> tuple[int, str]:
    """The exit code and the output, without what differs from run to run."""
    environ = environ_with(PYTHONPATH=f"{CLIENT}:{folder}", COLUMNS="100")
    done = start("pytest", "-p", "no:cacheprovider", *words, cwd=folder, environ=environ, apart=True, python=python)
    output = re.sub(r"in \d+\.\d+s", "in 0s", done.stdout)
    lines = [line for line in output.splitlines() if not line.startswith("plugins:") and "generated xml" not in line]
    return done.returncode, re.sub(r"0x[0-9a-f]+", "0x", "\n".join(lines))


def recorded(report: Path) -> dict[str, list[str]]:
    """Test -> what its properties say, without the sites."""
    found = {}
    for case in ET.parse(report).iter("testcase"):
        values = [each.get("value", "") for each in case.iter("property") if each.get("name") == "flakeboard.value"]
        found[str(case.get("name"))] = [value.split(" ", 2)[2] for value in values]
    return found


def sites(report: Path) -> set[str]:
    return {
        each.get("value", "").split(" ")[1]
        for each in ET.parse(report).iter("property")
        if each.get("name") == "flakeboard.value"
    }


def test_every_form_is_recorded_and_the_session_is_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="some of the forms are numpy's")
    wanted = write_forms(tmp_path)
    plain = session(tmp_path, "--tb=long", "-rA")
    watched = session(
        tmp_path,
        *PLUGIN,
        "--flakeboard-values",
        "--flakeboard-report=out/r.xml",
        "--junitxml=out/own.xml",
        "-rA",
        "--tb=long",
    )
    assert watched[0] == plain[0] == 1
    assert watched[1] == plain[1]
    assert recorded(tmp_path / "out/r.xml") == wanted
    assert recorded(tmp_path / "out/own.xml") == wanted
    assert {site.partition(":")[0] for site in sites(tmp_path / "out/r.xml")} == {
        "test_forms.py",
        "test_forms_numpy.py",
        "test_others.py",
    }


@pytest.mark.parametrize("style", ["native"])
def test_tracebacks_of_other_styles_are_as_they_were(tmp_path: Path, style: str) -> None:
    (tmp_path / "test_it.py").write_text(
        "import math, unittest\n"
        "class TestIt(unittest.TestCase):\n"
        "    def test_less(self): self.assertLess(2, 1)\n"
        "def test_close(): assert math.isclose(2, 1)\n"
    )
    assert session(tmp_path, f"--tb={style}") == session(tmp_path, *PLUGIN, "--flakeboard-values", f"--tb={style}")


def test_workers_record_too(tmp_path: Path) -> None:
    wanted = write_forms(tmp_path, numpy=False)
    words = ("-p", "xdist", "-n", "2", *PLUGIN, "--flakeboard-values", "--junitxml=own.xml")
    assert session(tmp_path, *words)[0] == 1
    assert recorded(tmp_path / "own.xml") == wanted


@pytest.mark.skipif(not oldest_python_with_pytest(), reason="no old Python with pytest here")
def test_oldest_python_records_too(tmp_path: Path) -> None:
    wanted = write_forms(tmp_path, numpy=False)
    python = oldest_python_with_pytest()
    plain = session(tmp_path, "-rA", python=python)
    assert session(tmp_path, *PLUGIN, "--flakeboard-values", "--junitxml=own.xml", "-rA", python=python) == plain
    assert recorded(tmp_path / "own.xml") == wanted


WORKER = ("-p", "xdist", "-n", "1")
"""One worker: with two, the order of what is printed is up to chance."""


def assert_recorded_and_as_it_was(folder: Path, *words: str, python: str) -> None:
    wanted = write_forms(folder)
    plain = session(folder, *words, "-rA", python=python)
    watched = session(folder, *words, *PLUGIN, "--flakeboard-values", "--junitxml=own.xml", "-rA", python=python)
    assert watched == plain and plain[0] == 1
    assert recorded(folder / "own.xml") == wanted


@pytest.mark.skipif(not oldest_pytest(), reason="the oldest pytest is not here: `make test` fetches it")
@pytest.mark.parametrize("words", [(), WORKER], ids=["alone", "worker"])
def test_oldest_pytest_records_every_form(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert_recorded_and_as_it_was(tmp_path, *words, python=oldest_pytest())


def test_a_worker_records_every_form(tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="some of the forms are numpy's")
    assert_recorded_and_as_it_was(tmp_path, *WORKER, python=sys.executable)


def test_nothing_is_recorded_without_the_option(tmp_path: Path) -> None:
    write_forms(tmp_path, numpy=False)
    session(tmp_path, *PLUGIN, "--flakeboard-report=r.xml")
    assert not any(recorded(tmp_path / "r.xml").values())
