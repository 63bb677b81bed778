"""The list of quarantined tests as each test runner takes it. Pure.

What a runner's own selector cannot say exactly is left out rather than said too widely: a pattern that also names
another test would silently stop that one."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ingest.identity import TestName


@dataclass(frozen=True, slots=True)
class Exported:
    text: str
    left_out: tuple[TestName, ...] = ()
    """Tests that this format cannot name exactly."""


Export = Callable[[Sequence[TestName], Collection[TestName]], Exported]
"""The tests to export, and the others of the project."""


def export(kind: str, tests: Sequence[TestName], others: Collection[TestName] = ()) -> Exported:
    """The tests in one of FORMATS; `others` are tests that must not be hit by accident."""
    return FORMATS[kind](tests, others)


# -- for programs and people -------------------------------------------------------------------------------------


def _as_json(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    rows = [{name: getattr(test, name) for name in ("number", "suite", "classname", "name", "file")} for test in tests]
    return Exported(json.dumps({"tests": rows}, indent=1, ensure_ascii=True) + "\n")


def _as_text(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """One a line; what would break a line, or a terminal, is written as an escape."""
    lines = (" ".join(part for part in (test.classname or test.suite, test.name) if part) for test in tests)
    return Exported("".join(f"{_printable(line)}\n" for line in lines))


def _printable(text: str) -> str:
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


# -- pytest ------------------------------------------------------------------------------------------------------


def _as_pytest(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """Arguments for `pytest @file`, one per line, without ids by which pytest would also deselect other tests."""
    ids = [(test, node_id(test)) for test in tests]
    foreign = {node_id(other) for other in others}
    kept = [
        (test, id_)
        for test, id_ in ids
        if _is_line(id_) and not any(foreign_id.startswith(id_) for foreign_id in foreign)
    ]
    text = "".join(f"--deselect={id_}\n" for _, id_ in kept)
    return Exported(text, _without(tests, [test for test, _ in kept]))


def node_id(test: TestName) -> str:
    """pytest's id: file, classes and name. Without a file the class path tells it: classes begin with a capital."""
    parts = test.classname.split(".") if test.classname else []
    if test.file:
        module = test.file.replace("\\", "/").removesuffix(".py").split("/")
        classes = parts[len(module) :] if parts[: len(module)] == module else _classes(parts)
        path = test.file.replace("\\", "/")
    else:
        classes = _classes(parts)
        path = "/".join(parts[: len(parts) - len(classes)]) + ".py"
    return "::".join((path, *classes, test.name))


def _classes(parts: Sequence[str]) -> list[str]:
    first = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts))
    return list(parts[first:])


def _is_line(text: str) -> bool:
    """It has no line break of any kind: the file is split at all of them."""
    return text.splitlines() == [text]


# -- JavaScript --------------------------------------------------------------------------------------------------

_META = re.compile(r"[\\^$.*+?()\[\]{}|/\-]")


def _literal(text: str) -> str:
    """Text as a regular expression of JavaScript, Ruby and Go, on one line."""
    escaped = _META.sub(lambda found: "\\" + found[0], text)
    return "".join(letter if letter.isprintable() else _code(letter) for letter in escaped)


def _code(letter: str) -> str:
    """An escape that JavaScript reads without its u flag: characters beyond 16 bits are two."""
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _full_name(test: TestName) -> str:
    """jest-junit writes the whole title as name and as class, unless it is told otherwise."""
    if not test.classname or test.name.startswith(test.classname):
        return test.name
    return f"{test.classname} {test.name}"


def _all_but(names: Sequence[str]) -> str:
    """Matches every name but these; empty, which runners take for no filter, where there is none."""
    return f"^(?!(?:{'|'.join(names)})$)" if names else ""


def _as_jest(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """For `jest --testNamePattern "$(cat file)"`."""
    return _by_title(tests, others, _full_name, _literal)


def _as_vitest(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """For `vitest -t "$(cat file)"`. Reports join titles with ` > `, the pattern is asked with a space."""
    return _by_title(tests, others, lambda test: test.name, _joined_by(" > "))


def _joined_by(joint: str) -> Callable[[str], str]:
    return lambda title: f"(?:{_literal(joint)}| )".join(_literal(part) for part in title.split(joint))


def _by_title(
    tests: Sequence[TestName],
    others: Collection[TestName],
    title: Callable[[TestName], str],
    pattern: Callable[[str], str],
) -> Exported:
    """Titles are all that is asked, in any case of letters: another test of the same title must not be hit."""
    foreign = {title(other).casefold() for other in others}
    kept = [test for test in tests if title(test) and title(test).casefold() not in foreign]
    names = list(dict.fromkeys(pattern(title(test)) for test in kept))
    return Exported(_all_but(names) + "\n", _without(tests, kept))


def _as_playwright(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """For `playwright test --grep-invert "$(cat file)"`: file and titles with spaces between, tags at the end."""
    join = _joined_by(" › ")
    named = [f"{_literal(test.classname)} {join(test.name)}" if test.classname else join(test.name) for test in tests]
    text = f"(?:^| )(?:{'|'.join(dict.fromkeys(named))})(?: @\\S+)*$" if named else "(?!)"
    return Exported(text + "\n")


# -- JUnit 5, Go, RSpec ------------------------------------------------------------------------------------------

_JAVA_CLASS = re.compile(r"(?:(?!\d)[\w$]+\.)*(?!\d)[\w$]+")
_JAVA_METHOD = re.compile(r"((?!\d)[\w$]+)(?:\(\))?")


def _as_junit5(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """For `mvn test "-Dtest=$(cat file)"`: methods of classes, none with parameters, which go by their method alone."""
    foreign = {_java(other, whole=False) for other in others}
    named = [(test, _java(test, whole=True)) for test in tests]
    kept = [(test, method) for test, method in named if method and method not in foreign]
    return Exported(",".join(f"!{method}" for _, method in kept) + "\n", _without(tests, [test for test, _ in kept]))


def _java(test: TestName, *, whole: bool) -> str:
    """Class and method; empty where the name is no method's (`whole`), or is cut at its parameters."""
    name = test.name if whole else re.split(r"[(\[{ ]", test.name, maxsplit=1)[0]
    method = _JAVA_METHOD.fullmatch(name)
    return f"{test.classname}#{method[1]}" if method and _JAVA_CLASS.fullmatch(test.classname) else ""


def _as_go(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """For `go test -skip "$(cat file)"`. Packages are not asked: another package's test of the name must not be hit."""
    foreign = {other.name for other in others}
    below = {name[:at] for name in foreign for at in range(len(name)) if name[at] == "/"}
    kept = [test for test in tests if test.name and test.name not in foreign | below and _is_line(test.name)]
    names = dict.fromkeys("/".join(f"^{_go_literal(part)}$" for part in test.name.split("/")) for test in kept)
    return Exported("|".join(names) + "\n", _without(tests, kept))


def _go_literal(text: str) -> str:
    """Go writes spaces as underlines, and its escapes have braces."""
    escaped = _META.sub(lambda found: found[0] if found[0] in "/-" else "\\" + found[0], text)
    return "".join(
        "_" if letter.isspace() else letter if letter.isprintable() else f"\\x{{{ord(letter):x}}}" for letter in escaped
    )


def _as_rspec(tests: Sequence[TestName], others: Collection[TestName]) -> Exported:
    """For `rspec --example-matches "$(cat file)"`: the whole description, which is the report's name."""
    foreign = {other.name for other in others}
    kept = [test for test in tests if test.name and test.name not in foreign]
    names = list(dict.fromkeys(_ruby_literal(test.name) for test in kept))
    text = f"\\A(?!(?:{'|'.join(names)})\\z)" if names else ""
    return Exported(text + "\n", _without(tests, kept))


def _ruby_literal(text: str) -> str:
    escaped = _META.sub(lambda found: "\\" + found[0], text)
    return "".join(letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}" for letter in escaped)


def _without(tests: Sequence[TestName], kept: Sequence[TestName]) -> tuple[TestName, ...]:
    numbers = {test.number for test in kept}
    return tuple(test for test in tests if test.number not in numbers)


FORMATS: Mapping[str, Export] = {
    "json": _as_json,
    "text": _as_text,
    "pytest": _as_pytest,
    "jest": _as_jest,
    "vitest": _as_vitest,
    "playwright": _as_playwright,
    "junit5": _as_junit5,
    "go": _as_go,
    "rspec": _as_rspec,
}
