"""Sketches from sources: the same bytes everywhere, in every language, and no word of the source in them."""

import importlib.util
import os
import subprocess
import sys
from hashlib import blake2b, sha256
from math import sqrt
from pathlib import Path
from struct import unpack

import pytest
from flakeboard.plugin.sketches import sketched
from flakeboard.sketches.functions import functions
from flakeboard.sketches.languages import LANGUAGES, language_of, without_asides
from flakeboard.sketches.sketch import key_id, key_of, sketch_of, words_of
from flakeboard.sketches.sources import NOT_FOUND, SEVERAL, TOO_LARGE, TOO_SHORT, Sources

from tests.paths import ROOT

KEY = key_of("shop")
TOTAL = """def test_total(cart):
    cart.add("apple", 2)  # two apples
    time.sleep(0.1)
    assert cart.total() == 2
"""
PYTHON = LANGUAGES[0]


def numbers(source: str) -> tuple[int, ...]:
    made = sketch_of(words_of(without_asides(PYTHON, source)), KEY)
    assert made is not None
    return unpack("256b", made.numbers)


def test_the_sketch_of_the_specification_byte_for_byte() -> None:
    words = words_of(without_asides(PYTHON, TOTAL))
    assert dict(words) == dict.fromkeys(("def", "test_total", "add", "time", "sleep", "assert", "total"), 1) | {
        "cart": 3
    }
    assert blake2b(b"sleep", key=KEY, digest_size=8).hexdigest() == "8ca379c7cc808126"
    made = sketch_of(words, KEY)
    assert made is not None and made.words == 10
    values = unpack("256b", made.numbers)
    assert (sum(map(bool, values)), values[11], values[16], values[83]) == (31, 61, 61, -61)
    assert sha256(made.numbers).hexdigest().startswith("da18218a2cdc85cf")
    assert made.digest.startswith("c4167b47f003e849")
    other = numbers(TOTAL.replace("total", "count"))
    product = sum(a * b for a, b in zip(values, other, strict=True))
    distance = 1 - product / sqrt(sum(a * a for a in values) * sum(b * b for b in other))
    assert distance == pytest.approx(0.1943, abs=5e-5)


def test_a_secret_makes_another_key_and_is_not_in_its_name() -> None:
    assert key_of("shop", "secret of sixteen") != KEY and len(key_id(KEY)) == 8
    assert key_id(KEY) == sha256(sha256(b"flakeboard:shop").digest()).hexdigest()[:8]


@pytest.mark.parametrize("source", ["", "def test(): pass", "a b c d e f", '"""only a text of many words here"""'])
def test_too_few_words_make_no_sketch(source: str) -> None:
    assert sketch_of(words_of(without_asides(PYTHON, source)), KEY) is None


# -- the same everywhere -----------------------------------------------------------------------------------------

PRINT = """
import sys
from flakeboard.sketches.sources import Sources
from flakeboard.sketches.sketch import key_of
for names in (("shop.test_cart", "test_total[1]", ""), ("shop.test_cart.TestCart", "test_odd", "")):
    made = Sources(sys.argv[1], key_of("shop")).sketched(*names)
    print(made.why, made.sketch.digest, made.sketch.numbers.hex())
"""
ODD = """

class TestCart:
    @pytest.mark.parametrize("x", [1, 2])
    def test_odd(self, x):
        straße = f"{x!r:>{10}} {'nested'}"  # ein Kommentar
        wanted = rb"bytes" + b\'\'\'more
        bytes\'\'\'
        assert naïve_sum(x, wanted) == "\\" still a text" or Ελλάς
"""


def pythons() -> list[str]:
    """One of each version that the client supports and that is here."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = [sorted(root.glob(f"3.{minor}.*/bin/python"))[-1:] for minor in range(8, 15)]
    return [str(path) for paths in kept for path in paths]


def test_processes_that_differ_in_everything_make_the_same_bytes(tmp_path: Path) -> None:
    outputs = set()
    for place, (python, seed, locale) in enumerate(
        [(sys.executable, "1", "C"), *((python, "77", "de_DE.ISO-8859-1") for python in pythons())]
    ):
        folder = tmp_path / f"folder {place}" / "deep"
        (folder / "shop").mkdir(parents=True)
        (folder / "shop" / "test_cart.py").write_bytes(
            (TOTAL + ODD).encode("utf-8").replace(b"\n", (b"\n", b"\r\n")[place % 2])
        )
        environ = {
            "PYTHONPATH": str(ROOT / "client"),
            "PYTHONHASHSEED": seed,
            "LC_ALL": locale,
            "PYTHONIOENCODING": "utf-8",
        }
        done = subprocess.run(
            [python, "-c", PRINT, str(folder)], env=environ, cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    (output,) = outputs
    first, second = (line.split() for line in output.splitlines())
    assert first[0].startswith("c4167b47f003e849") and len(second[1]) == 512


def test_pytest_and_the_command_make_the_same_sketch(tmp_path: Path) -> None:
    source = "import functools\n\n\ndef twice(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a)\n    return g\n"
    path = tmp_path / "test_wrapped.py"
    path.write_text(source + "\n\n@twice\n" + TOTAL)
    spec = importlib.util.spec_from_file_location("test_wrapped", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    by_pytest = sketched(("test_wrapped", "test_total", "test_wrapped.py"), module.test_total, KEY)
    by_command = Sources(str(tmp_path), KEY).sketched("test_wrapped", "test_total")
    assert by_pytest.sketch == by_command.sketch is not None and "twice" in (by_command.words or {})


# -- every language ----------------------------------------------------------------------------------------------

JAVA = """
package shop;
class CartTest {
  /* addsApples( in a comment { */
  @Test @Timeout(5) @ValueSource(ints = {1, 2})
  void addsApples(int number) throws Exception {
    String text = "} not the end {"; char c = '}';
    cart.addsApples(number); queue.poll(); worker.start();
  }
  @Test void other() { cart.addsApples(3); worker(); }
}
"""
KOTLIN = '@Test\nfun `adds apples`() = runTest {\n  val t = """ } """\n  queue.poll(); worker.start()\n}\nfun other() { x() }\n'
CSHARP = '[Fact]\n[InlineData("}")]\npublic async Task AddsApples()\n{\n  var p = @"c:\\";\n  await queue.Poll(); worker.Start();\n}\n'
SCALA = "@Test def addsApples(): Unit = {\n  queue.poll() // }\n  worker.start()\n}\n"
RUST = "#[test]\nfn adds_apples<'a>() -> Result<(), String> {\n  let s = r#\"}\"#; let c = '}'; queue.poll(); worker.start()\n}\n"
PHP = "<?php\nclass CartTest {\n  #[Test]\n  public function testApples(): void {\n    $t = '}'; $queue->poll(); worker();\n  }\n}\n"
JS = """
describe("cart", () => {
  // it("adds apples", () => {})
  it("adds apples", async () => {
    const r = /["')]/; const t = `) ${x}`; await queue.poll(); worker.start();
  });
  test.only('adds more apples', () => { other(); });
});
"""
RUBY = 'describe Cart do\n  it "adds apples" do\n    queue.poll # end\n    worker.start do\n      nothing\n    end\n  end\n  def test_apples\n    queue.poll\n    worker.start\n  end\nend\n'
GO = 'package shop\nfunc TestApples(t *testing.T) {\n  s := `}`; queue.Poll(); worker.Start()\n  t.Run("sub", func(t *testing.T) {})\n}\nfunc TestApplesToo(t *testing.T) { x() }\n'
CPP = 'TEST_F(Cart, Apples) {\n  auto s = R"x(})x"; queue.poll(); worker.start();\n}\nTEST(Cart, ApplesToo) { x(); }\nTEST_CASE("adds apples", "[tag]") { queue.poll(); worker.start(); }\n'


@pytest.mark.parametrize(
    ("file", "source", "classname", "name", "inside", "line"),
    [
        ("CartTest.java", JAVA, "shop.CartTest", "addsApples(int)[1]", "valuesource", 6),
        ("CartTest.kt", KOTLIN, "shop.CartTest", "adds apples()", "runtest", 2),
        ("CartTest.cs", CSHARP, "Shop.CartTest", "AddsApples", "inlinedata", 3),
        ("CartTest.scala", SCALA, "shop.CartTest", "addsApples", "unit", 1),
        ("cart.rs", RUST, "shop::cart", "adds_apples", "result", 2),
        ("CartTest.php", PHP, "CartTest", "testApples", "function", 4),
        ("cart.test.ts", JS, "cart", "cart > adds apples", "await", 4),
        ("cart_spec.rb", RUBY, "spec.cart_spec", "Cart adds apples", "nothing", 2),
        ("cart_test.rb", RUBY, "CartTest", "test_apples", "def", 8),
        ("cart_test.go", GO, "example.com/shop", "TestApples/sub", "testing", 2),
        ("cart_test.cc", CPP, "Cart", "Apples/0", "test_f", 1),
        ("cart_test.cpp", CPP, "", "adds apples", "test_case", 5),
    ],
)
def test_the_source_of_a_test_is_found_in_every_language(
    file: str, source: str, classname: str, name: str, inside: str, line: int
) -> None:
    language = language_of(file)
    assert language is not None
    (found,) = functions(language, source, classname, name)
    words = words_of(found.text)
    assert {"queue", "poll", "worker", inside} <= set(words) and "other" not in words and found.line == line
    assert found.text.rstrip()[-1] in "})d" and "not the end" not in found.text


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_hostile_sources_are_read_in_linear_time_and_never_raise(language) -> None:
    for piece in (
        '"',
        "'",
        "`",
        "/*",
        "//",
        "#",
        "{",
        "(",
        "\\",
        'r#"',
        'R"(',
        "/[",
        '"""',
        "it('",
        "def test(",
        "\0\ufffd",
    ):
        text = piece * (20_000 // len(piece))
        assert len(without_asides(language, text)) == len(text)
        functions(language, text, "a.B", "test")


def test_what_has_no_sketch_says_why(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TOTAL + TOTAL + "def test_short(): x\n")
    (tmp_path / "test_b.py").write_bytes(b"def test_bytes():\n    wanted = \xff\xfe; total = cart.total(wanted)\n\0")
    (tmp_path / "test_large.py").write_text("def test_total():\n" + "    word = other\n" * 20_000)
    (tmp_path / "CartTest.java").write_text(JAVA)
    sources = Sources(str(tmp_path), KEY)
    assert sources.sketched("test_a", "test_total").why == SEVERAL
    assert sources.sketched("test_a", "test_short").why == TOO_SHORT
    assert sources.sketched("test_large", "test_total").why == TOO_LARGE
    assert sources.sketched("test_a", "test_gone").why == NOT_FOUND
    assert sources.sketched("test_b", "test_bytes").why == NOT_FOUND, "no Python can read it"
    assert sources.sketched("", "test_total", "../../etc/passwd").why == NOT_FOUND
    assert sources.sketched("shop.CartTest", "addsApples").sketch is not None
