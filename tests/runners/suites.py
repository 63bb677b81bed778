"""Small projects, one for each test runner, whose tests fail as FAILS tells them to.

FAILS names tests by a word of their own: `stock` fails always, `stock:1` its first time alone."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.client.provision import NODE, is_here, maven_options, missing, node_program

COUNTER = "{}.ran"
"""The file that counts how often a test ran, where it fails a number of times."""


@dataclass(frozen=True)
class Suite:
    runner: str
    """As tests/client/provision.py calls it; nothing where it comes with Python."""
    files: dict[str, str]
    command: tuple[str, ...]
    quarantined: tuple[str, str]
    """Class and name, as the server shows them."""
    options: tuple[str, ...] = ()
    """Of `flakeboard run`."""
    environ: dict[str, str] = field(default_factory=dict)
    green: str = ""
    """The report of its green run, where running it would take too long."""

    def write(self, folder: Path) -> None:
        assert not self.runner or is_here(self.runner), missing(self.runner)
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)


# -- pytest ------------------------------------------------------------------------------------------------------

_PYTEST = """
import os, pathlib, pytest

def check(word):
    for told in os.environ.get("FAILS", "").split():
        name, _, times = told.partition(":")
        if name != word:
            continue
        log = pathlib.Path(word + ".ran")
        before = len(log.read_text()) if log.exists() else 0
        log.write_text("x" * (before + 1))
        if times == "crash":
            os.kill(os.getpid(), 11)
        if times == "memory":
            raise MemoryError
        if times == "disk":
            open("/dev/full", "w", buffering=1).write("no room\\n")
        assert times and before >= int(times), "attempt %d" % (before + 1)

def test_price(): check("price")
def test_stock(): check("stock")
def test_total(): check("total")

@pytest.mark.parametrize("currency", ["a b", "x::y"])
def test_order(currency): check("order")

def test_last(): check("last")
"""
_ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PYTEST = Suite(
    "",
    {"test_shop.py": _PYTEST},
    (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
    ("test_shop", "test_stock"),
    environ=_ALONE,
)
PLUGIN = Suite(
    "",
    PYTEST.files,
    (*PYTEST.command, "-p", "flakeboard.pytest_plugin", "-p", "xdist"),
    PYTEST.quarantined,
    environ=_ALONE,
)
MAKE = Suite(
    "",
    {**PYTEST.files, "Makefile": "test:\n\t@$(PYTEST) --junitxml=reports/unit/pytest.xml\n"},
    ("make", "test"),
    PYTEST.quarantined,
    ("--report", "reports/**/*.xml"),
    {**_ALONE, "PYTEST": " ".join(PYTEST.command)},
)

# -- JavaScript --------------------------------------------------------------------------------------------------

_CHECK_JS = """
const fs = require('fs');
module.exports = (word) => {
  for (const told of (process.env.FAILS || '').split(' ')) {
    const [name, times] = told.split(':');
    if (name !== word) continue;
    const before = fs.existsSync(word + '.ran') ? fs.readFileSync(word + '.ran', 'utf8').length : 0;
    fs.writeFileSync(word + '.ran', 'x'.repeat(before + 1));
    if (times === 'crash') process.kill(process.pid, 'SIGKILL');
    if (times === 'memory') throw new Error('jest-worker: Call retries were exceeded');
    if (!times || before < Number(times)) throw new Error('attempt ' + (before + 1));
  }
};
"""
_JEST_SHOP = """
const check = require('./check');
describe('cart (new)', () => {
  test('has a price', () => check('price'));
  test('has a $stock', () => check('stock'));
  test('has a total', () => check('total'));
});
test('twice', () => {});
describe('again', () => { test('twice', () => check('twin')); test('twice', () => {}); });
"""
JEST = Suite(
    "jest",
    {
        "package.json": '{"private": true}',
        "check.js": _CHECK_JS,
        "a_shop.test.js": _JEST_SHOP,
        "b_late.test.js": "const check = require('./check');\ntest('comes late', () => check('late'));\n",
    },
    (
        str(node_program("jest") or "jest"),
        "--ci",
        "--reporters=default",
        f"--reporters={NODE / 'node_modules' / 'jest-junit'}",
    ),
    ("", "cart (new) has a $stock"),
    environ={"JEST_JUNIT_OUTPUT_FILE": "junit.xml"},
)
MOCHA = Suite(
    "mocha",
    {
        "check.js": _CHECK_JS,
        "test/shop.js": """
const check = require('../check');
describe('cart', () => {
  it('has a price', () => check('price'));
  it('has a stock', () => check('stock'));
  it('has a total', () => check('total'));
});
""",
    },
    (
        str(node_program("mocha") or "mocha"),
        "--reporter",
        str(NODE / "node_modules" / "mocha-junit-reporter"),
        "--reporter-options",
        "mochaFile=mocha.xml",
    ),
    ("cart", "has a stock"),
    ("--report", "mocha.xml"),
)

# -- Ruby --------------------------------------------------------------------------------------------------------

_RSPEC = """
def check(word)
  ENV.fetch('FAILS', '').split.each do |told|
    name, times = told.split(':')
    next unless name == word
    before = File.exist?("#{word}.ran") ? File.read("#{word}.ran").length : 0
    File.write("#{word}.ran", 'x' * (before + 1))
    Process.kill('KILL', Process.pid) if times == 'crash'
    raise NoMemoryError if times == 'memory'
    return false if times.nil? || before < times.to_i
  end
  true
end

RSpec.describe 'Cart' do
  it('has a price') { expect(check('price')).to be true }
  it('has a stock') { expect(check('stock')).to be true }

  describe 'its size' do
    subject { check('size') }
    it { is_expected.to be true }
    it { is_expected.not_to be_nil }
  end

  it('has a total') { expect(check('total')).to be true }
  [1, 2].each { it('is told twice') { expect(check('twin')).to be true } }
  it('is last') { expect(check('last')).to be true }
end
"""
RSPEC = Suite(
    "rspec",
    {"spec/shop_spec.rb": _RSPEC},
    ("rspec", "-r", "rspec_junit_formatter", "--format", "RspecJunitFormatter", "--out", "rspec.xml"),
    ("spec.shop_spec", "Cart has a stock"),
)

# -- Go ----------------------------------------------------------------------------------------------------------

_GO = """
package shop

import ("os"; "strings"; "testing")

func check(t *testing.T, word string) {
	for _, told := range strings.Fields(os.Getenv("FAILS")) {
		name, times, _ := strings.Cut(told, ":")
		if name != word { continue }
		before, _ := os.ReadFile(word + ".ran")
		os.WriteFile(word + ".ran", append(before, 'x'), 0o644)
		if times == "crash" { panic("out of stock") }
		if times == "exit" { os.Exit(1) }
		if times == "" || len(before) < int(times[0]-'0') { t.Errorf("attempt %d", len(before)+1) }
	}
}

func TestPrice(t *testing.T) { check(t, "price") }
func TestStock(t *testing.T) { check(t, "stock") }
func TestTotal(t *testing.T) { t.Run("with tax", func(t *testing.T) { check(t, "total") }) }
func TestLast(t *testing.T) { check(t, "last") }
"""
GO = Suite(
    "go",
    {"go.mod": "module example.com/shop\n\ngo 1.19\n", "shop_test.go": _GO},
    ("gotestsum", "--junitfile", "go.xml", "--", "./..."),
    ("example.com/shop", "TestStock"),
    environ={"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"},
)

# -- Java --------------------------------------------------------------------------------------------------------

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>shop</artifactId><version>1</version>
<properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
<argLine>-XX:TieredStopAtLevel=1 -XX:+UseSerialGC</argLine>
<maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies>
<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>debian</version><type>pom</type>
<scope>test</scope></dependency>
<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter-engine</artifactId><version>5.9.2</version>
<scope>test</scope></dependency>
</dependencies></project>
"""
_JAVA = """package shop;

import static org.junit.jupiter.api.Assertions.fail;
import java.nio.file.*;
import org.junit.jupiter.api.*;

@TestMethodOrder(MethodOrderer.MethodName.class)
class CartTest {
  static void check(String word) throws Exception {
    String fails = System.getenv().getOrDefault("FAILS", "");
    for (String told : fails.split(" ")) {
      String[] parts = told.split(":");
      if (!parts[0].equals(word)) continue;
      Path log = Paths.get(word + ".ran");
      int before = Files.exists(log) ? (int) Files.size(log) : 0;
      Files.writeString(log, "x".repeat(before + 1));
      if (parts.length > 1 && parts[1].equals("crash")) Runtime.getRuntime().halt(3);
      if (parts.length == 1 || before < Integer.parseInt(parts[1])) fail("attempt " + (before + 1));
    }
  }
  @Test void hasAPrice() throws Exception { check("price"); }
  @Test void hasAStock() throws Exception { check("stock"); }
  @Test void hasATotal() throws Exception { check("total"); }

  @Nested class WhenEmpty {
    @Test void hasNoPrice() throws Exception { check("empty"); }
    @Test void hasNoStock() {}
  }
}
"""
_LATE = """package shop;

import org.junit.jupiter.api.*;

class LateTest {
  @Test void comesLate() throws Exception { CartTest.check("late"); }
}

@Disabled("its report says that it was skipped")
class OffTest {
  @Test void isOff() {}
}

abstract class BaseTest {
  @Test void isNoTestOfItsOwn() {}
}
"""
MAVEN = Suite(
    "maven",
    {"pom.xml": _POM, "src/test/java/shop/CartTest.java": _JAVA, "src/test/java/shop/LateTest.java": _LATE},
    ("mvn", *maven_options(), "test"),
    ("shop.CartTest", "hasAStock"),
    environ={"MAVEN_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
    green="".join(
        [
            '<testsuite name="shop.CartTest">',
            *(
                f'<testcase name="hasA{name}" classname="shop.CartTest" time="0.1"/>'
                for name in ("Price", "Stock", "Total")
            ),
            "</testsuite>",
        ]
    ),
)

SUITES = {
    "pytest": PYTEST,
    "plugin": PLUGIN,
    "make": MAKE,
    "jest": JEST,
    "mocha": MOCHA,
    "rspec": RSPEC,
    "go": GO,
    "maven": MAVEN,
}


def forget_counts(folder: Path) -> None:
    """Every test begins anew."""
    for path in folder.glob("*.ran"):
        path.unlink()


def copied(folder: Path, to: Path) -> Path:
    """A project without the reports of its green run."""
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns(*REPORTS))
    return to


REPORTS = ("reports", "junit.xml", "mocha.xml", "rspec.xml", "go.xml")
