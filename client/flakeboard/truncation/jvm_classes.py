"""Compiled test classes that wrote no report, because their JVM ended early.

Maven and Gradle then exit with 1, as for a failing test, and the reports of earlier classes look complete."""

from __future__ import annotations

import glob
import os
import re
import struct
from typing import Iterable, Iterator, Sequence

from flakeboard.reports.junit import Case

_MAVEN, _GRADLE = ("mvn", "mvnw", "mvnd"), ("gradle", "gradlew")
_CLASSES = {"maven": ("target/test-classes",), "gradle": ("build/classes/java/test", "build/classes/kotlin/test")}
_REPORTS = {"maven": "/target/", "gradle": "/build/"}
_DEFAULT_NAME = re.compile(r"(?:Test\w*|\w*(?:Test|Tests|TestCase))\Z")
"""The classes that Surefire runs by default."""
_MARKS = (b"Lorg/junit/jupiter/api/Test;", b"Lorg/junit/Test;", b"Lorg/testng/annotations/Test;")
_CHOSEN = re.compile(r"-D(?:test|it\.test|groups|excludedGroups|surefire\.\w*cludes?\w*)=|--tests\b|-D\w*\.include")
_CHOSEN_THERE = re.compile(
    r"<(?:test|groups|excludedGroups|includes|excludes|includesFile|excludesFile|suiteXmlFiles|dependenciesToScan)>"
    r"|\b(?:includeTags|excludeTags|includeTestsMatching|excludeTestsMatching|useTestNG)\b|[pP]hrased"
)
_LARGEST = 1_000_000
_PUBLIC_KINDS = 0x0200 | 0x0400
"""Access flags of an interface, and of an abstract class."""


def class_without_report(command: Sequence[str], reports: Iterable[str], cases: Sequence[Case]) -> str:
    """A test class that should have run in a module with reports but is in none of them; empty if there is none."""
    tool = _tool(command)
    if not tool or any(_CHOSEN.search(word) for word in command):
        return ""
    ran = {part for case in cases for name in (case.classname, case.suite) for part in (name, name.partition("$")[0])}
    for module in _modules(tool, reports):
        if any(_CHOSEN_THERE.search(_text(path)) for path in _build_files(module)):
            continue
        missing = next((name for name in _test_classes(tool, module) if name not in ran), "")
        if missing:
            return f"the test class {missing} wrote no report"
    return ""


def _tool(command: Sequence[str]) -> str:
    programs = {os.path.basename(word.replace("\\", "/")).partition(".")[0] for word in command}
    return "maven" if programs & set(_MAVEN) else "gradle" if programs & set(_GRADLE) else ""


def _modules(tool: str, reports: Iterable[str]) -> list[str]:
    """Folders of modules that wrote reports."""
    found = []
    for path in reports:
        real = os.path.realpath(path).replace(os.sep, "/")
        before, sign, _ = real.rpartition(_REPORTS[tool])
        if sign and before not in found:
            found.append(before)
    return found


def _build_files(module: str) -> list[str]:
    """Build files that may select tests: the module's own, and those above it up to the current folder."""
    names = ("pom.xml", "build.gradle", "build.gradle.kts")
    folders, top = [module], os.path.realpath(os.curdir)
    while folders[-1] != top and os.path.dirname(folders[-1]) != folders[-1]:
        folders.append(os.path.dirname(folders[-1]))
    return [os.path.join(folder, name) for folder in folders for name in names]


def _test_classes(tool: str, module: str) -> Iterator[str]:
    """Names of the classes with tests that the tool runs by default."""
    for folder in _CLASSES[tool]:
        root = os.path.join(module, folder)
        for path in sorted(glob.glob(os.path.join(glob.escape(root), "**", "*.class"), recursive=True)):
            name = os.path.relpath(path, root)[: -len(".class")].replace(os.sep, ".")
            by_name = tool != "maven" or _DEFAULT_NAME.match(name.rpartition(".")[2])
            if "$" not in name and by_name and _holds_tests(path):
                yield name


def _holds_tests(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST)
        return any(mark in content for mark in _MARKS) and not _access_flags(content) & _PUBLIC_KINDS
    except (OSError, struct.error, IndexError):
        return False


_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of each kind of constant in a class file; kind 1 is text with its own length."""


def _access_flags(content: bytes) -> int:
    """The class file's access flags, which follow its constants."""
    (count,) = struct.unpack_from(">H", content, 8)
    at, number = 10, 1
    while number < count:
        kind = content[at]
        size = 2 + struct.unpack_from(">H", content, at + 1)[0] if kind == 1 else _SIZES.get(kind, 0)
        at += 1 + size
        number += 2 if kind in (5, 6) else 1
    return int(struct.unpack_from(">H", content, at)[0])


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""
