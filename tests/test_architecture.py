"""Imports go one way: dashboard -> analytics -> ingest; the pure rooms know neither Django nor what is above.

And what the layout promises a newcomer: folders that can be read at a glance, modules named by what they hold, and one
home for each decision that used to have several."""

import ast
import re
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

from dashboard.retention.ages import LONGEST, Ages

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("ingest", "analytics", "dashboard")
PURE = {
    "ingest/junit": {"lxml", "zstandard", "ingest.junit", "ingest.formats", "ingest.verdict"},
    "ingest/formats": {"ingest.formats", "ingest.junit", "ingest.verdict"},
    "analytics/kernel": {
        *("numpy", "scipy", "analytics.kernel", "ingest.vectors", "ingest.verdict"),
        "flakeboard.differences",
        "flakeboard.traces",
    },
    "analytics/simulation": {
        *("numpy", "analytics.kernel", "analytics.simulation"),
        *("ingest.clock", "ingest.signature", "ingest.vectors", "ingest.verdict", "flakeboard.orders"),
    },
    "client/flakeboard/orders": {"flakeboard.orders"},
    "client/flakeboard/traces": {"flakeboard.traces"},
    "client/flakeboard/differences": {"flakeboard.differences", "flakeboard.traces"},
    "dashboard/charts": {"analytics.wording", "dashboard.charts"},
    "analytics/wording.py": set(),
    "analytics/runs/failing_tests.py": {"analytics.kernel"},
}
"""Folder -> what its modules may import besides the standard library."""
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py")) or [ROOT / folder]


def statements(source: str) -> Iterator[ast.AST]:
    """All statements of a module, the inner ones too; expressions, most of what there is, are passed by."""
    ahead: list[ast.AST] = [ast.parse(source)]
    while ahead:
        node = ahead.pop(0)
        yield node
        ahead += [part for part in ast.iter_child_nodes(node) if isinstance(part, STATEMENTS)]


@cache
def imports(path: Path) -> list[str]:
    names: list[str] = []
    for node in statements(path.read_text()):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def product_modules() -> list[Path]:
    return [path for room in ROOMS for path in modules(room) if path.parent.name != "migrations"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_a_room_above_it(room: str) -> None:
    above = ROOMS[ROOMS.index(room) + 1 :]
    found = [(str(path), name) for path in modules(room) for name in imports(path) if room_of(name) in above]
    assert found == []


@pytest.mark.parametrize("folder", PURE)
def test_pure_rooms_import_nothing_but_what_they_may(folder: str) -> None:
    import sys

    def allowed(name: str) -> bool:
        known = any(name == may or name.startswith(may + ".") for may in PURE[folder])
        return known or room_of(name) in sys.stdlib_module_names

    assert [(str(path), name) for path in modules(folder) for name in imports(path) if not allowed(name)] == []


def test_the_check_sees_a_wrong_import(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from django.db import models\nimport dashboard.web\n")
    assert imports(wrong) == ["django.db.models", "dashboard.web"]
    inner = tmp_path / "inner.py"
    inner.write_text(
        "def load():\n    try:\n        import a\n    except ImportError:\n        with open('x'):\n            import b\n"
        "class Late:\n    match 1:\n        case 1:\n            from c import d\n"
    )
    assert sorted(imports(inner)) == ["a", "b", "c.d"]


PAGES_AND_API = ("dashboard/web", "dashboard/api")


@pytest.mark.parametrize("side", PAGES_AND_API)
def test_pages_and_api_do_not_import_each_other(side: str) -> None:
    """What both need is below them: a page that asks the API's modules makes every change of one a change of both."""
    (other,) = (folder.replace("/", ".") for folder in PAGES_AND_API if folder != side)
    found = [
        (name_of(path), name) for path in modules(side) for name in imports(path) if f"{name}.".startswith(f"{other}.")
    ]
    assert found == []


# -- the layout --------------------------------------------------------------------------------------------------

MOST_SIBLINGS = 30
FOLDERS_OF = (*ROOMS, "client", "bench", "tools", "templates")
GERUNDS = {
    "ingest/processing.py": "the steps of an upload after its 202",
    "ingest/interning.py": "a step: names to numbers",
    "ingest/storing.py": "a step: what was read to rows",
    "ingest/junit/archives/unpacking.py": "a step of the reader",
    "ingest/junit/encoding.py": "the encoding of a document, a noun",
    "ingest/junit/reading.py": "a step of the reader",
    "ingest/junit/parsing.py": "a step of the reader",
    "ingest/junit/merging.py": "a step of the reader",
    "analytics/refreshing.py": "the steps of an analysis, from asked for to stored",
    "analytics/kernel/standing.py": "how a project stands, a noun",
    "analytics/wording.py": "how sentences put numbers, a noun",
    "dashboard/api/listing.py": "a list as the API answers it, a noun",
    "dashboard/api/paging.py": "what the trade calls it",
    "dashboard/web/paging.py": "what the trade calls it",
    "dashboard/api/throttling.py": "what the trade calls it",
    "dashboard/people/throttling.py": "what the trade calls it",
    "dashboard/ops/tracing.py": "what the trade calls it",
}
"""Module -> why its name may end in -ing. Any other is named by the noun that it holds."""


def siblings(folder: Path) -> list[str]:
    """Modules or templates that lie beside each other."""
    return sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != "__init__.py")


def crowded(top: Path) -> list[tuple[str, int]]:
    """Folders with more files than a reader takes in."""
    folders = [top, *(path for path in top.rglob("*") if path.is_dir())]
    read = [folder for folder in folders if folder.name not in ("migrations", "__pycache__")]
    return [(folder.name, len(siblings(folder))) for folder in read if len(siblings(folder)) > MOST_SIBLINGS]


@pytest.mark.parametrize("top", FOLDERS_OF)
def test_no_folder_is_crowded(top: str) -> None:
    assert crowded(ROOT / top) == []


def test_the_check_sees_a_crowded_folder(tmp_path: Path) -> None:
    for folder, count in (("fine", MOST_SIBLINGS), ("full", MOST_SIBLINGS + 1), ("migrations", 99)):
        (tmp_path / folder).mkdir()
        for number in range(count):
            (tmp_path / folder / f"m{number}.py").touch()
        (tmp_path / folder / "__init__.py").touch()
    assert crowded(tmp_path) == [("full", MOST_SIBLINGS + 1)]


def test_no_module_of_the_product_looks_like_a_test() -> None:
    assert [name_of(path) for path in product_modules() if path.name.startswith("test_")] == []


def test_gerunds_name_steps_and_what_the_trade_calls_so() -> None:
    named = {name_of(path) for path in product_modules() if path.stem.endswith("ing")}
    assert sorted(named - set(GERUNDS)) == [], "name it by what it holds, or say here why not"
    assert sorted(set(GERUNDS) - named) == [], "gone: take it off the list"


WIDEST = 160


def wide_lines(folder: Path) -> list[tuple[str, int]]:
    """Lines of templates that no window shows whole."""
    return [
        (path.name, number)
        for path in sorted(folder.rglob("*.*"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > WIDEST
    ]


def test_templates_fit_a_window() -> None:
    assert wide_lines(ROOT / "templates") == []


def test_the_check_sees_a_wide_line(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("a" * WIDEST + "\n" + "a" * (WIDEST + 1) + "\n")
    assert wide_lines(tmp_path) == [("page.html", 2)]


# -- names -------------------------------------------------------------------------------------------------------

NO_CLASSES = {"Told", "Asked", "Known", "Said", "Drawn", "Found", "Analysed", "Wanted", "Seen"}
NO_VARIABLES = {"one", "told", "mine", "some", "said", "asked"}
NAMED = ("ingest", "analytics", "dashboard", "client", "bench", "tools")
_VAGUE = re.compile(rf"\b_*(?:{'|'.join(NO_CLASSES | NO_VARIABLES)})_*\b")


def vague_names(source: str) -> list[tuple[int, str]]:
    """Classes that are participles, variables that are pronouns or participles: neither says what it holds.

    Fields of a class are not looked at: those of a serializer are the API's words."""
    if not _VAGUE.search(source):  # parsing takes a hundred times longer
        return []
    found, nodes = set(), list(ast.walk(ast.parse(source)))
    bodies = (node.body for node in nodes if isinstance(node, ast.ClassDef))
    fields = {id(name) for body in bodies for line in body if isinstance(line, ast.Assign) for name in line.targets}
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name.strip("_") in NO_CLASSES:
            found.add((node.lineno, node.name))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NO_VARIABLES:
            found |= {(node.lineno, node.id)} if id(node) not in fields else set()
        elif isinstance(node, ast.arg) and node.arg in NO_VARIABLES:
            found.add((node.lineno, node.arg))
    return sorted(found)


@pytest.mark.parametrize("folder", NAMED)
def test_names_say_what_they_hold(folder: str) -> None:
    read = [path for path in modules(folder) if path.parent.name != "migrations"]
    assert {name_of(path): vague for path in read if (vague := vague_names(path.read_text()))} == {}


def test_the_check_sees_a_vague_name() -> None:
    source = "class _Told:\n    asked = Field()\nfor one in rows:\n    told = one\ndef f(mine):\n    said = mine\n"
    assert vague_names(source) == [(1, "_Told"), (3, "one"), (4, "told"), (5, "mine"), (6, "said")]


def vague_names_in_template(source: str) -> set[str]:
    """Variables that a template binds, by `for` and `with`, and that do not say what they hold."""
    loops = re.findall(r"{% for ([\w, ]+) in ", source)
    bound = re.findall(r"(\w+)=", " ".join(re.findall(r"{% (?:with|include) [^%]*%}", source)))
    return {name.strip() for loop in loops for name in loop.split(",")} & NO_VARIABLES | set(bound) & NO_VARIABLES


def test_names_in_templates_say_what_they_hold() -> None:
    read = {path.name: vague_names_in_template(path.read_text()) for path in (ROOT / "templates").rglob("*.html")}
    assert {name: vague for name, vague in read.items() if vague} == {}


def test_the_check_sees_a_vague_name_in_a_template() -> None:
    source = "{% for one, row in rows %}{% with told=one %}{% include 'x' with mine=told %}{% for test in some %}"
    assert vague_names_in_template(source) == {"one", "told", "mine"}


# -- one home for each decision ----------------------------------------------------------------------------------

LEASES, AGES = "ingest/leases.py", "dashboard/retention"
_LEASED = {"claim", "lease_until"}


def writes_of_leases(source: str) -> list[int]:
    """Lines that write a lease's columns: by `update`, by name in a dictionary, as an attribute, or in SQL."""
    found: set[int] = set()
    if not any(column in source for column in _LEASED):
        return []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("update"):
            found |= {node.lineno for keyword in node.keywords if keyword.arg in _LEASED}
        elif isinstance(node, ast.Dict):
            found |= {key.lineno for key in node.keys if isinstance(key, ast.Constant) and key.value in _LEASED}
        elif isinstance(node, ast.Assign):
            found |= {
                node.lineno for target in node.targets if isinstance(target, ast.Attribute) and target.attr in _LEASED
            }
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "lease_until =" in node.value:
            found.add(node.lineno)
    return sorted(found)


def deletions_by_age(source: str) -> list[str]:
    """Functions that delete what is older than something: they delete, and take something from now."""
    if "delete" not in source or "now" not in source.lower():
        return []
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        parts = list(ast.walk(node))
        deletes = any(isinstance(part, ast.Attribute) and part.attr in ("delete", "_raw_delete") for part in parts)
        ages = any(
            isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and "now" in ast.unparse(part.left).lower()
            for part in parts
        )
        if deletes and ages:
            found.append(node.name)
    return found


def test_only_the_module_of_leases_writes_claims() -> None:
    found = {name_of(path): lines for path in product_modules() if (lines := writes_of_leases(path.read_text()))}
    assert set(found) == {LEASES}


def test_the_check_sees_a_claim_of_its_own() -> None:
    written = (
        "rows.update(state=1, claim=new)\nFREE = {'lease_until': None}\nrow.claim = new\nSQL = 'SET lease_until = 1'\n"
    )
    assert writes_of_leases(written) == [1, 2, 3, 4]
    assert writes_of_leases("lease.claim(key, free)\nrows.filter(claim=None, lease_until__lt=now)\n") == []


def test_only_retention_deletes_by_age() -> None:
    found = {name_of(path): names for path in product_modules() if (names := deletions_by_age(path.read_text()))}
    assert {name for name in found if not name.startswith(AGES)} == set()


def test_no_other_module_of_retention_repeats_an_age() -> None:
    days = {value for value in (*asdict(Ages()).values(), *asdict(LONGEST).values()) if value is not None}
    others = [path for path in modules(AGES) if path.name != "ages.py" and path.parent.name != "migrations"]
    found = [
        (name_of(path), node.lineno)
        for path in others
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value in days
    ]
    assert len(days) >= 4 and found == []


def test_the_check_sees_a_deletion_by_age() -> None:
    old = "def forget():\n    rows.filter(at__lt=timezone.now() - timedelta(days=90)).delete()\n"
    assert deletions_by_age(old) == ["forget"]
    assert deletions_by_age("def forget():\n    rows.filter(expires_at__lt=timezone.now()).delete()\n") == []


def test_migrations_are_complete(db: None) -> None:
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_compressed_bytes_of_tests_do_not_depend_on_the_clock() -> None:
    """gzip writes the second into its header: as a parameter that would be another test each second."""
    sources = {path: path.read_text() for path in modules("tests")}
    calls = [
        (str(path), node.lineno, {keyword.arg for keyword in node.keywords})
        for path, source in sources.items()
        if "gzip.compress" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "gzip.compress"
    ]
    assert calls
    assert [call[:2] for call in calls if "mtime" not in call[2]] == []
