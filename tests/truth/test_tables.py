"""The committed tables are what the script derives from the raw histories, by itself."""

import ast
import sys
from pathlib import Path

from tests.conftest import DATA, needs_data
from tests.truth import derive, histories, related
from tests.truth.derive import TABLES, conclude, written
from tests.truth.histories import all_histories


@needs_data
def test_tables_are_what_the_raw_data_says() -> None:
    derived = {history.name: written(conclude(history)) for history in all_histories(DATA)}
    assert {path.stem for path in TABLES.glob("*.json")} == set(derived)
    for name, table in derived.items():
        assert (TABLES / f"{name}.json").read_text(encoding="utf-8") == table, name


def test_the_script_imports_nothing_of_the_product() -> None:
    for module in (derive, histories, related):
        tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        named = {node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports}
        assert named <= {"tests.truth.histories", "tests.truth.related"} | {
            name for name in named if name.split(".")[0] in sys.stdlib_module_names
        }
