"""Seeds of a run: those that a test sets are varied by its number, and the line that sets them is named."""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flakeboard.values.seeds import SeedWatch

np = pytest.importorskip("numpy", reason="its seeds are watched here")

SPLIT = """
import numpy as np

def state(seed):
    return np.random.RandomState(seed)

def split(random_state=None):
    return state(random_state).random_sample()
"""


@pytest.fixture
def watch_in(tmp_path: Path) -> Iterator[Callable[..., SeedWatch]]:
    watches = []

    def start(keeps: bool = False) -> SeedWatch:
        watches.append(SeedWatch(str(tmp_path), keeps))
        watches[-1].start()
        return watches[-1]

    state = random.getstate(), np.random.get_state()  # noqa: NPY002 - other tests have it
    yield start
    for watch in watches:
        watch.stop()
    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002


def module_at(file: Path, source: str) -> Any:
    """As if it were imported from there."""
    module = types.ModuleType(file.stem)
    file.parent.mkdir(parents=True, exist_ok=True)
    exec(compile(source, str(file), "exec"), vars(module))
    return module


DRAWS = {
    "random.seed": "import random\ndef draw():\n    random.seed(5)\n    return random.random()",
    "random.seed(a=)": "import random\ndef draw():\n    random.seed(a=5, version=1)\n    return random.random()",
    "numpy.random.seed": "import numpy as np\ndef draw():\n    np.random.seed(5)\n    return np.random.random()",
    "default_rng": "import numpy as np\ndef draw():\n    return np.random.default_rng(5).random()",
    "default_rng(seed=)": "import numpy as np\ndef draw():\n    return np.random.default_rng(seed=5).random()",
    "RandomState(seed=)": "import numpy as np\ndef draw():\n    return np.random.RandomState(seed=5).random_sample()",
    "RandomState": "import numpy as np\ndef draw():\n    return np.random.RandomState(5).random_sample()",
}


@pytest.mark.parametrize("source", DRAWS.values(), ids=list(DRAWS))
def test_a_seed_is_varied_by_the_number_of_the_run_and_its_line_is_named(
    source: str, watch_in: Callable[..., SeedWatch], tmp_path: Path
) -> None:
    watch = watch_in()
    draw = module_at(tmp_path / "test_it.py", source).draw
    values = []
    for number in (1, 2, 1):
        watch.begin(number)
        values.append(draw())
    assert values[0] == values[2] != values[1]
    assert list(watch.places) == ["test_it.py:3"]


def test_what_is_not_the_seed_stays(watch_in: Callable[..., SeedWatch], tmp_path: Path) -> None:
    """Text is no number to add to, and `version` says how it is read."""
    random.seed("lemon", version=1)
    expected = random.random()
    watch = watch_in()
    watch.begin(4)
    source = "import random\ndef draw():\n    random.seed('lemon', version=1)\n    return random.random()"
    assert module_at(tmp_path / "test_it.py", source).draw() == expected and list(watch.places) == []


def test_kept_seeds_stay_and_are_named(watch_in: Callable[..., SeedWatch], tmp_path: Path) -> None:
    expected = np.random.default_rng(5).random()
    watch = watch_in(keeps=True)
    draw = module_at(tmp_path / "test_it.py", DRAWS["default_rng"]).draw
    watch.begin(3)
    assert draw() == expected and list(watch.places) == ["test_it.py:3"]


def test_a_seed_that_a_library_gets_is_named_where_the_test_gives_it(
    watch_in: Callable[..., SeedWatch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As scikit-learn's `random_state=7`."""
    library = module_at(tmp_path / "venv" / "site-packages" / "learning.py", SPLIT)
    monkeypatch.setitem(sys.modules, "learning", library)
    watch = watch_in()
    project = module_at(tmp_path / "test_it.py", "import learning\ndef draw(**how):\n    return learning.split(**how)")
    values = []
    for number in (1, 2):
        watch.begin(number)
        values.append(project.draw(random_state=7))
    assert values[0] != values[1] and list(watch.places) == ["test_it.py:3"]


def test_a_seed_that_nobody_in_the_project_gave_has_no_line(watch_in: Callable[..., SeedWatch], tmp_path: Path) -> None:
    library = module_at(tmp_path / "venv" / "site-packages" / "learning.py", SPLIT)
    watch = watch_in()
    watch.begin(1)
    library.split(7)
    assert list(watch.places) == []


def test_a_seed_that_a_library_sets_while_it_is_imported_has_no_line(
    watch_in: Callable[..., SeedWatch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "venv" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "seeded_when_imported.py").write_text("import random\nrandom.seed(1)\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    watch = watch_in()
    try:
        module_at(tmp_path / "test_it.py", "import seeded_when_imported")
        assert "seeded_when_imported" in sys.modules and list(watch.places) == []
    finally:
        sys.modules.pop("seeded_when_imported", None)


@pytest.mark.parametrize(
    "made", ["default_rng()", "default_rng(None)", "default_rng(seed=None)", "RandomState()", "RandomState(seed=None)"]
)
def test_generators_without_a_seed_can_be_had_again(
    made: str, watch_in: Callable[..., SeedWatch], tmp_path: Path
) -> None:
    watch = watch_in()
    source = f"import numpy as np\ndef draw():\n    return [np.random.{made}.uniform() for _ in range(2)]"
    draw = module_at(tmp_path / "test_it.py", source).draw
    values = []
    for number in (1, 2, 1):
        watch.begin(number)
        values.append(draw())
    assert values[0] == values[2] and len({*values[0], *values[1]}) == 4 and list(watch.places) == []


def test_states_are_still_of_their_class(watch_in: Callable[..., SeedWatch]) -> None:
    before = np.random.RandomState(3)
    watch = watch_in()
    watch.begin(1)
    assert isinstance(before, np.random.RandomState) and isinstance(np.random.RandomState(3), np.random.RandomState)
    watch.stop()
    assert type(before) is np.random.RandomState
