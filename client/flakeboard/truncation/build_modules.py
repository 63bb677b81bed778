"""Modules of a Maven or Gradle build that have tests but wrote no report, because the build stopped before them."""

from __future__ import annotations

import os
import re
from typing import Iterable, Iterator, Sequence

_MODULE = re.compile(r"<module>\s*([^<>]+?)\s*</module>")
_INCLUDED = re.compile(r"^\s*include\b", re.M)
_LARGEST = 1_000_000
_MOST = 1_000
_AFTER_TESTS = ("verify", "install", "deploy", "integration-test", "post-integration-test")
_MAVEN, _GRADLE = ("mvn", "mvnw", "mvnd"), ("gradle", "gradlew")


def modules_left_out(command: Sequence[str], reports: Iterable[str]) -> str:
    """What a build that stops at the first failing module or task may not have run."""
    programs = {os.path.basename(word.replace("\\", "/")).partition(".")[0] for word in command}
    if programs & set(_MAVEN):
        return _maven(command, reports)
    if programs & set(_GRADLE):
        return _gradle(command)
    return ""


def _maven(command: Sequence[str], reports: Iterable[str]) -> str:
    """Maven skips the modules after a failed one, and the integration tests after failed unit tests."""
    wrote = {os.path.realpath(os.path.dirname(path)) for path in reports}
    modules = _chosen(list(_modules(os.curdir, set())), command)
    silent = [module for module in modules if _has_tests(module) and not _wrote(module, wrote)]
    if silent:
        return f"Maven stops at the first failing module: {_shown(silent[0])} has tests but wrote no report"
    if any(goal in command for goal in _AFTER_TESTS):
        for module in modules:
            if "maven-failsafe-plugin" in _read(os.path.join(module, "pom.xml")) and not _wrote(
                module, wrote, "failsafe"
            ):
                return f"Maven stops when tests fail: the integration tests of {_shown(module)} wrote no report"
    return ""


def _modules(folder: str, seen: set[str]) -> Iterator[str]:
    """A module and those that its pom lists, each once."""
    real = os.path.realpath(folder)
    if real in seen or len(seen) >= _MOST:
        return
    seen.add(real)
    yield folder
    for name in _MODULE.findall(_read(os.path.join(folder, "pom.xml"))):
        path = os.path.join(folder, name)
        yield from _modules(os.path.dirname(path) if name.endswith(".xml") else path, seen)


def _chosen(modules: list[str], command: Sequence[str]) -> list[str]:
    """The modules that `-pl` names by folder or artifact; without it, all."""
    words = list(command)
    written = [value for at, word in enumerate(words) for value in _projects(word, words[at + 1 : at + 2])]
    named = [name for name in written if not name.startswith(("!", "-"))]
    left_out = [name[1:] for name in written if name.startswith(("!", "-"))]
    return [
        module
        for module in modules
        if (not named or any(_is_called(module, name) for name in named))
        and not any(_is_called(module, name) for name in left_out)
    ]


def _projects(word: str, following: Sequence[str]) -> list[str]:
    name, sign, value = word.partition("=")
    if name not in ("-pl", "--projects"):
        return []
    projects = (value if sign else "".join(following)).split(",")
    return [project.strip().lstrip("?") for project in projects if project.strip()]


def _is_called(module: str, name: str) -> bool:
    _, colon, artifact = name.rpartition(":")
    if not colon:
        return os.path.normpath(module) == os.path.normpath(name)
    return f"<artifactId>{artifact}</artifactId>" in _read(os.path.join(module, "pom.xml"))


def _has_tests(module: str) -> bool:
    return os.path.isdir(os.path.join(module, "src", "test"))


def _wrote(module: str, folders: set[str], kind: str = "") -> bool:
    target = os.path.join(os.path.realpath(module), "target")
    return any(folder.startswith(target + os.sep) and kind in os.path.basename(folder) for folder in folders)


def _shown(module: str) -> str:
    return os.path.normpath(module) if os.path.normpath(module) != os.curdir else "this module"


def _gradle(command: Sequence[str]) -> str:
    """Without --continue Gradle starts no task after a failed one."""
    if "--continue" in command or not any(_INCLUDED.search(_read(name)) for name in _SETTINGS):
        return ""
    return "Gradle stops at the first failing task, and there are several projects: use --continue"


_SETTINGS = ("settings.gradle", "settings.gradle.kts")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""
