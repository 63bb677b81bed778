"""Does a failing test touch the change that it ran on? By what it used, and what changed. Pure.

Information for people: it changes no state, and no answer of the gate. See docs/reach.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from analytics.reach.file_kinds import is_build_file
from ingest.reach.change_file import Change, ChangedFile
from ingest.reach.reach_file import Name

_LOCALS = ".<locals>"


class Answer(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Touch:
    answer: Answer
    reason: str
    """A sentence without its full stop."""


@dataclass(frozen=True, slots=True)
class UsedCode:
    """What a test used, as far as it was recorded."""

    functions: frozenset[Name]
    files: frozenset[str]
    """Opened files, and listed folders with a slash at their end."""
    modules: frozenset[str]
    """Files that its file imports, directly or by way of others."""
    outside: frozenset[Name] = frozenset()
    """Functions that ran outside of any test, as when modules were imported."""
    incomplete: str = ""
    """Why it is not all known; empty where it is."""
    of_this_run: bool = True
    """False for what it used at an earlier revision."""
    loaded: frozenset[str] = field(init=False)
    outermost: frozenset[Name] = field(init=False)

    def __post_init__(self) -> None:
        outermost = frozenset((file, name.partition(_LOCALS)[0]) for file, name in self.functions)
        object.__setattr__(self, "outermost", outermost)
        object.__setattr__(self, "loaded", self.modules | {file for file, _ in self.functions})


def touches(change: Change | None, used: UsedCode | None) -> Touch:
    """The answer for one test, with its reason."""
    if change is None:
        return Touch(Answer.UNKNOWN, "CI did not tell what changed")
    if change.unknown:
        return Touch(Answer.UNKNOWN, change.unknown)
    if used is None:
        return Touch(Answer.UNKNOWN, "what it used was not recorded")
    if used.incomplete:
        return Touch(
            Answer.UNKNOWN, f"what it used is not all known: {_INCOMPLETE.get(used.incomplete, used.incomplete)}"
        )
    for file in change.files:
        reason = _reason(file, used)
        if reason:
            return Touch(Answer.YES, reason)
    return Touch(Answer.NO, f"none of its {_counted(used)}")


_INCOMPLETE: Mapping[str, str] = {
    "child": "it started another process",
    "many files": "it opened very many files",
    "skipped": "it was skipped",
    "another tool": "another tool watched the process",
}


def _counted(used: UsedCode) -> str:
    """`214 functions, 3 files`."""
    functions, files = len(used.outermost), len([path for path in used.files if not path.endswith((".py", "/"))])
    parts = [_plural(functions, "function")]
    if files:
        parts.append(_plural(files, "file"))
    return ", ".join(parts)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _reason(file: ChangedFile, used: UsedCode) -> str:
    """Why a changed file touches the test; empty if it does not."""
    path = file.path
    if _concerns_all(path, used):
        return f"{path} concerns every test"
    if path in used.files:
        return f"it opened {path}"
    if not file.is_python:
        return _listing(file, used)
    found = next((name for name in sorted(file.functions) if (path, name) in used.outermost), "")
    if found:
        return f"it ran {found} of {path}"
    if path in used.loaded:
        if file.outside:
            return f"{path}, which it imports, changed outside of functions"
        early = next((name for name in sorted(file.functions) if _ran_early(path, name, used)), "")
        if early:
            return f"{path}, which it imports, calls {early} when it is imported"
    return _presence(file, used)


def _ran_early(path: str, name: str, used: UsedCode) -> bool:
    return any(file == path and inner.partition(_LOCALS)[0] == name for file, inner in used.outside)


def _listing(file: ChangedFile, used: UsedCode) -> str:
    """A file that came or went, where the test looks at what is there."""
    if file.status == "M":
        return ""
    folder = file.path.rpartition("/")[0] + "/"
    if (folder if folder != "/" else "./") in used.files:
        return f"it listed {folder if folder != '/' else 'the top folder'}, where {file.path} is new or gone"
    is_near = not used.of_this_run and any(path.rpartition("/")[0] + "/" == folder for path in used.files)
    return f"it opened files beside {file.path}, which is new" if is_near and file.status == "A" else ""


def _presence(file: ChangedFile, used: UsedCode) -> str:
    """A module that came or went, where the recorded revision cannot show who asks for it."""
    name = file.path.rpartition("/")[2]
    if file.status == "D" and used.of_this_run and not _is_test(name):
        return f"{file.path} is gone, and who asked for it does not show any more"
    if file.status == "A" and not used.of_this_run and not _is_test(name):
        return f"{file.path} is new, and who asks for it does not show yet"
    return _listing(file, used)


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name.endswith("_test.py")


# -- what all tests depend on ------------------------------------------------------------------------------------

_ENDS = (
    ".c",
    ".h",
    ".cc",
    ".cpp",
    ".cxx",
    ".hpp",
    ".pyx",
    ".pxd",
    ".pxi",
    ".rs",
    ".f",
    ".f90",
    ".so",
    ".pyd",
    ".pth",
)


def _concerns_all(path: str, used: UsedCode) -> bool:
    folder, _, name = path.rpartition("/")
    if name == "conftest.py":
        return not folder or any(file.startswith(folder + "/") for file in used.loaded)
    return is_build_file(path) or path.endswith(_ENDS)
