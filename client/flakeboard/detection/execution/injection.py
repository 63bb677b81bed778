"""The user's own pytest command with our plugin in it: nothing that could move pytest's rootdir and all node ids."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any, Mapping, Sequence

import flakeboard
from flakeboard.plugin_names import LAB_MODULE, LAB_VARIABLE
from flakeboard.runners.runner import RunnerCall

_COVERAGE = "COVERAGE_FILE"


class Injection:
    """Builds the command, its environment and its job file, below a folder of our own."""

    def __init__(
        self,
        call: RunnerCall,
        folder: str,
        environ: Mapping[str, str],
        randomly_seed: int,
        working_folder: str | None = None,
    ) -> None:
        self.folder = folder
        self.working_folder = working_folder
        """Where the command runs; None for where we do."""
        self._call = call
        self._environ = dict(environ)
        self._seed = randomly_seed
        self._source = _importable(folder)

    def command(self, arguments: Sequence[str] | None = None) -> list[str]:
        """Our words come first: behind a lone `--` of the command they would be paths."""
        cache = os.path.join(self.folder, "cache")
        own = ["-p", LAB_MODULE, "-o", "cache_dir=" + cache]
        return [*self._call.before, *own, *(self._call.arguments if arguments is None else arguments)]

    def environ(self, job: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        path = os.pathsep.join(filter(None, (self._source, self._environ.get("PYTHONPATH", ""))))
        given = {**self._environ, "PYTHONPATH": path, LAB_VARIABLE: job, **(more or {})}
        given.setdefault(_COVERAGE, os.path.join(self.folder, "coverage"))
        return given

    def write_job(self, **job: Any) -> str:
        """The job's file: names of tests reach pytest by it alone."""
        path = os.path.join(self.folder, "job.json")
        usual = {"pythonpath": self._environ.get("PYTHONPATH"), "injected": self._source, "randomly_seed": self._seed}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**usual, **job}, file)
        return path

    def fresh(self, name: str) -> str:
        """An empty folder, for the temporary files of one order."""
        path = os.path.join(self.folder, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path


def _importable(folder: str) -> str:
    """A place that holds our package and nothing else: beside it in site-packages are others, which would shadow."""
    package = os.path.dirname(os.path.abspath(flakeboard.__file__))
    above = os.path.dirname(package)
    if os.path.isfile(above):
        return above  # the single file
    place = os.path.join(folder, "client")
    os.makedirs(place, exist_ok=True)
    linked = os.path.join(place, os.path.basename(package))
    if not os.path.lexists(linked):
        try:
            os.symlink(package, linked, target_is_directory=True)
        except (OSError, NotImplementedError):
            shutil.copytree(package, linked, ignore=shutil.ignore_patterns("__pycache__"))
    return place
