"""The committed tables are what the script derives from the raw histories, by itself."""

import ast
import sys
from pathlib import Path

from tests.conftest import DATA, needs_data
from tests.extent import WHOLE
from tests.truth import derive, histories, related
from tests.truth.derive import TABLES, conclude, written
from tests.truth.histories import archives, matrices, name_of, read_matrix, read_reports

LARGEST = ("junit_alluxio-100.tar.gz", "tfscreen.tar.xz")
"""Derived anew in `make whole`: neither the data nor what is derived of them changes with the product."""


@needs_data
def test_every_history_has_a_table() -> None:
    assert {path.stem for path in TABLES.glob("*.json")} == set(map(name_of, (*archives(DATA), *matrices(DATA))))


@needs_data
def test_tables_are_what_the_raw_data_says() -> None:
    read = [read_reports(path) for path in archives(DATA) if WHOLE or path.name not in LARGEST]
    for history in (*read, *map(read_matrix, matrices(DATA))):
        table = (TABLES / f"{history.name}.json").read_text(encoding="utf-8")
        assert table == written(conclude(history)), history.name


def test_the_script_imports_nothing_of_the_product() -> None:
    for module in (derive, histories, related):
        tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        named = {node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports}
        assert named <= {"tests.truth.histories", "tests.truth.related"} | {
            name for name in named if name.split(".")[0] in sys.stdlib_module_names
        }
