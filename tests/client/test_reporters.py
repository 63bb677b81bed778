"""The npm reporters under the real runners: what the server's reader makes of what they write."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flakeboard import __version__

from tests.client import provision
from tests.client.commands import environ_with
from tests.client.conftest import ROOT

pytest.importorskip("lxml", reason="the server's reader needs it")

PACKAGE = ROOT / "integrations" / "npm"
BODY = """
let runs = 0;
describe('cart', () => {
  it('is slow', async () => { await new Promise((done) => setTimeout(done, 60)); });
  it('is flaky', () => { runs += 1; if (runs < 2) throw new Error('not <yet> \\u0001'); });
  it('is broken', () => { throw new TypeError('always'); });
  it.skip('is left out', () => {});
});
"""
MEETS = """
it('meets the other', async () => {
  const fs = process.getBuiltinModule('fs');
  fs.writeFileSync('LETTER.here', '');
  for (let tries = 0; tries < 2000 && !(fs.existsSync('a.here') && fs.existsSync('b.here')); tries += 1)
    await new Promise((done) => setTimeout(done, 10));
  await new Promise((done) => setTimeout(done, 50));
}, 30000);
"""
"""Two of these run at once, or never end in time."""


@dataclass(frozen=True)
class Suite:
    file: str
    head: str
    command: tuple[str, ...]
    reporter: tuple[str, ...]
    parallel: tuple[str, ...]
    has_line: bool = True


PLAYWRIGHT = """const { test } = require('@playwright/test');
const describe = test.describe; const it = (title, body) => test(title, () => body()); it.skip = test.skip;
"""
SUITES = {
    "jest": Suite(
        "a.test.js",
        "jest.retryTimes(1, {logErrorsBeforeRetry: true});\n",
        ("jest", "--rootDir=.", "--testLocationInResults"),
        ("--reporters=" + str(PACKAGE / "jest.js"),),
        ("--maxWorkers=2",),
    ),
    "mocha": Suite(
        "a.test.js",
        "",
        ("mocha", "--retries=1", "--timeout=30000", "*.test.js"),
        ("--reporter=" + str(PACKAGE / "mocha.js"),),
        ("--parallel", "--jobs=2"),
        has_line=False,
    ),
    "vitest": Suite(
        "a.test.js",
        "const { describe, it } = globalThis;\n",
        ("vitest", "run", "--globals", "--retry=1", "--includeTaskLocation", "--no-file-parallelism", "--pool=threads"),
        ("--reporter=" + str(PACKAGE / "vitest.js"),),
        ("--fileParallelism=true", "--maxWorkers=2", "--minWorkers=2"),
    ),
    "playwright": Suite(
        "a.spec.js",
        PLAYWRIGHT,
        ("playwright", "test", "--retries=1", "--workers=1"),
        ("--reporter=" + str(PACKAGE / "playwright.js"),),
        ("--workers=2",),
    ),
}
each_runner = pytest.mark.parametrize("name", SUITES)


def run(name: str, folder: Path, *more: str) -> Any:
    """Run the folder's tests with the reporter; what the server's reader makes of the report."""
    from ingest.junit.limits import Limits
    from ingest.junit.upload import read_files

    program = provision.node_program(name)
    if program is None:
        pytest.skip(provision.missing(name))
    suite = SUITES[name]
    (folder / "package.json").write_text('{"jest": {"transform": {}}}')  # plain JavaScript, which needs no Babel
    (folder / "node_modules").symlink_to(program.parent.parent)
    words = [word for word in suite.command[1:] if not (more and word in ("--workers=1", "--no-file-parallelism"))]
    done = subprocess.run(
        [str(program), *words, *suite.reporter, *more],
        cwd=str(folder),
        env=environ_with(CI="1", FORCE_COLOR="0", FLAKEBOARD_RUN_NOTES=str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    path = folder / "flakeboard-report.xml"
    assert path.exists(), done.stdout
    (note,) = folder.glob("npm-*.json")
    assert json.loads(note.read_text()) == {"reporter": name, "reports": [str(path)]}, "`flakeboard run` finds it"
    note.unlink()
    with path.open("rb") as stream:
        (outcome,) = read_files([("report.xml", stream)], Limits())
    assert outcome.error is None, outcome.error
    return done.returncode, outcome.report, path.read_text(encoding="utf-8")


@each_runner
def test_attempts_order_place_and_durations_are_read_by_the_server(name: str, tmp_path: Path) -> None:
    from ingest.verdict import Verdict

    suite = SUITES[name]
    body = BODY.replace("runs += 1;", "runs = test.info().retry + 1;") if name == "playwright" else BODY
    (tmp_path / suite.file).write_text(suite.head + body)
    code, report, text = run(name, tmp_path)
    assert code != 0
    names = [key[2] for key in report.keys]
    titles = ["is slow", "is flaky", "is broken"]
    assert [title for title in names if "left out" not in title] == ["cart > " + title for title in titles]
    ended = {key: Verdict(report.verdicts[at]).name for at, key in enumerate(report.keys)}
    verdicts = {key[2].rpartition(" > ")[2]: verdict for key, verdict in ended.items()}
    assert verdicts == {"is slow": "PASS", "is flaky": "PASS", "is broken": "FAIL", "is left out": "SKIP"}
    attempts = {key[2].rpartition(" > ")[2]: found for key, found in attempts_of(report).items()}
    assert [attempt.verdict.name for attempt in attempts["is flaky"]] == ["FAIL", "PASS"]
    assert [attempt.verdict.name for attempt in attempts["is broken"]] == ["FAIL", "FAIL"]
    assert "not <yet>" in attempts["is flaky"][0].failures[0].text
    assert {key[1] for key in report.keys} == {suite.file}
    assert report.order_reliable and not report.warnings and not report.run_errors
    times = dict(re.findall(r'name="cart &gt; ([\w ]+)" time="([0-9.]+)"', text))
    assert 0.05 < float(times["is slow"]) < 5
    assert bool(re.search(r'is slow"[^>]* line="[0-9]+"', text)) == suite.has_line


def attempts_of(report: Any) -> dict[Any, Any]:
    return {report.keys[at] if isinstance(at, int) else at: found for at, found in report.attempts.items()}


@each_runner
def test_what_fails_besides_tests_is_an_error_of_the_run(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    broken = "throw new Error('no database');"
    code = f"before(() => {{ {broken} }});" if name == "mocha" else broken
    (tmp_path / suite.file).write_text(suite.head + code + "\nit('works', () => {});\n")
    exit_code, report, text = run(name, tmp_path)
    assert exit_code != 0
    assert report.run_errors, text
    assert "no database" in text


@each_runner
def test_tests_that_ran_side_by_side_have_no_order(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    for letter in "ab":
        meets = MEETS.replace("LETTER", letter)
        (tmp_path / suite.file.replace("a.", letter + ".")).write_text(suite.head + meets)
    code, report, text = run(name, tmp_path, *suite.parallel)
    assert code == 0 and len(report.keys) == 2
    assert "flakeboard.order" not in text and not report.order_reliable


def test_the_package_has_no_dependencies_ships_every_module_and_has_the_clients_version() -> None:
    package = json.loads((PACKAGE / "package.json").read_text())
    assert not {"dependencies", "peerDependencies", "scripts"} & set(package)
    assert package["version"] == __version__
    exported = {path for path in package["exports"].values() if path.endswith(".js")}
    assert exported == {"./" + path.name for path in PACKAGE.glob("*.js")}
    assert {path.name for path in PACKAGE.iterdir()} <= {*package["files"], "package.json"}
    required = {
        found for path in PACKAGE.rglob("*.js") for found in re.findall(r"require\('([^']+)'\)", path.read_text())
    }
    assert required <= {"fs", "path", "./lib/report"}
