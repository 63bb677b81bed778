"""Options and settings that make a test runner stop at the first failure, so that later tests never run."""

from __future__ import annotations

import glob
import json
import os
import re
from dataclasses import dataclass
from typing import Iterator, Mapping, Sequence

from flakeboard.runners import pytest_settings

_OFF = frozenset({"0", "false", "no", "off"})
_LARGEST = 1_000_000


@dataclass(frozen=True)
class FailFast:
    """How a runner is made to stop at a failure."""

    programs: tuple[str, ...]
    options: tuple[str, ...] = ()
    """Each by itself, or with a value other than off."""
    letters: str = ""
    """Short options, also within a bundle such as `-vb`."""
    variables: tuple[str, ...] = ()
    """Environment variables that hold options."""
    files: tuple[str, ...] = ()
    setting: str = ""
    """The pattern of the setting in these files."""
    default: str = ""
    """What the runner does by default, if it stops by default."""
    against: tuple[str, ...] = ()
    """Options that switch the default off."""
    against_setting: str = ""
    """The pattern of a setting that switches the default off."""


_JS_BAIL = r"""\bbail["']?\s*:\s*(?!["']|false\b|0\b|null\b|undefined\b)\S"""
"""Any value but off; `"bail": "^2.0.0"` is a package of that name."""
_FAIL_FAST = (
    FailFast(
        ("jest", "react-scripts"),
        ("--bail",),
        "b",
        files=("jest.config.*", "package.json"),
        setting=_JS_BAIL,
    ),
    FailFast(("vitest",), ("--bail",), files=("vitest.config.*", "vite.config.*"), setting=_JS_BAIL),
    FailFast(
        ("playwright",),
        ("--max-failures",),
        "x",
        files=("playwright.config.*",),
        setting=r"\bmaxFailures\s*:\s*(?!0\b|undefined)",
    ),
    FailFast(("mocha",), ("--bail",), "b", files=(".mocharc.*", "package.json"), setting=_JS_BAIL),
    FailFast(("ava",), ("--fail-fast",), files=("package.json", "ava.config.*"), setting=r"failFast[\"']?\s*:\s*true"),
    FailFast(("go", "gotestsum"), ("-failfast", "--failfast", "--max-fails"), variables=("GOFLAGS",)),
    FailFast(("ginkgo",), ("--fail-fast", "-fail-fast", "--failFast", "-failFast")),
    FailFast(
        ("rspec",),
        ("--fail-fast", "--next-failure"),
        variables=("SPEC_OPTS",),
        files=(".rspec", ".rspec-local", "~/.rspec", "spec/*helper.rb"),
        setting=r"(?m)^\s*--fail-fast(?!=0\b)|^[^#\n]*\.fail_fast\s*=\s*(?!false|nil|0\b)",
    ),
    FailFast(
        ("mvn", "mvnw", "mvnd"),
        ("-Dsurefire.skipAfterFailureCount", "-Dfailsafe.skipAfterFailureCount"),
        variables=("MAVEN_ARGS",),
        files=("pom.xml", "*/pom.xml", ".mvn/maven.config"),
        setting=r"skipAfterFailureCount(?:>|=)\s*[1-9]",
    ),
    FailFast(
        ("gradle", "gradlew"),
        ("--fail-fast",),
        files=("build.gradle*", "*/build.gradle*"),
        setting=r"\bfailFast\s*=\s*true|\bfailFast\s+true",
    ),
    FailFast(
        ("phpunit", "paratest", "pest"),
        ("--stop-on-defect", "--stop-on-error", "--stop-on-failure", "--bail"),
        files=("phpunit.xml", "phpunit.xml.dist"),
        setting=r"stopOn(?:Defect|Error|Failure)\s*=\s*[\"']true",
    ),
    FailFast(
        ("cargo", "nextest"),
        ("--fail-fast", "--max-fail"),
        files=(".config/nextest.toml",),
        default="cargo stops at a failure (without --no-fail-fast)",
        against=("--no-fail-fast",),
        against_setting=r"(?m)^\s*fail-fast\s*=\s*false",
    ),
    FailFast(("turbo",), default="turbo stops at a package that fails (without --continue)", against=("--continue",)),
    FailFast(("lerna",), default="lerna stops at a package that fails (without --no-bail)", against=("--no-bail",)),
    FailFast(("nx",), ("--nxBail", "--nx-bail")),
    FailFast(("bun", "wdio"), ("--bail",)),
    FailFast(("deno", "rails"), ("--fail-fast",)),
    FailFast(("ctest",), ("--stop-on-failure",)),
    FailFast(("robot", "pabot"), ("--exitonfailure", "--exitonerror"), "X"),
    FailFast(("behave",), ("--stop",)),
    FailFast(("cucumber", "cucumber-js"), ("--fail-fast",)),
    FailFast(("unittest", "xmlrunner", "manage", "nose2", "nosetests", "green"), ("--failfast", "--stop"), "fx"),
    FailFast(("bazel", "bazelisk"), ("--notest_keep_going", "--test_keep_going=false", "--test_runner_fail_fast")),
    FailFast(("mix",), ("--max-failures",)),
)
_SCRIPTS = ("GNUmakefile", "makefile", "Makefile", "package.json", "tox.ini", "noxfile.py", "justfile", "Taskfile.y*ml")
_PYTEST = ("pytest", "py.test")
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|js|mjs|py)\Z", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s\"'`,;:(){}\[\]&|]+")


def stopping_option(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Why the command may stop at a failure: the option or setting and where it is; empty if it does not."""
    named = [(word, list(command[at + 1 :])) for at, word in enumerate(map(_program, command))]
    for program, arguments in named:
        if program in _PYTEST:
            return _pytest(arguments, environ)
        for rule in _FAIL_FAST:
            if program in rule.programs:
                return _reason(rule, arguments, environ)
    return _hidden(command, environ)


def _program(word: str) -> str:
    return _SUFFIX.sub("", os.path.basename(word.replace("\\", "/")))


def _pytest(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    found = pytest_settings.stopping_option(pytest_settings.given_options(arguments, environ))
    return f"pytest stops at a failure ({found})" if found else ""


def _reason(rule: FailFast, arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    name = rule.programs[0]
    given = [("the command", list(arguments))]
    given += [(variable, pytest_settings.words(environ.get(variable, ""))) for variable in rule.variables]
    for source, words in given:
        option = next((word for word in words if _is_stop(rule, word)), "")
        if option:
            return f"{name} stops at a failure ({source}: {option})"
    place = _setting_in(rule.files, rule.setting)
    if place:
        return f"{name} stops at a failure ({place})"
    is_off = set(rule.against) & set(arguments) or _setting_in(rule.files, rule.against_setting)
    return rule.default if rule.default and not is_off else ""


def _is_stop(rule: FailFast, word: str) -> bool:
    name, _, value = word.partition("=")
    if word in rule.options or (name in rule.options and value.lower() not in _OFF):
        return True
    return bool(rule.letters) and re.match(rf"-[a-zA-Z]{{0,4}}[{rule.letters}][a-zA-Z]{{0,4}}\Z", word) is not None


def _setting_in(files: Sequence[str], setting: str) -> str:
    """The first of the files that has the setting, and its text; empty if none has it."""
    for path in _existing(files) if setting else ():
        found = re.search(setting, _read(path))
        if found:
            return f"{os.path.basename(path)}: {found.group().strip()}"
    return ""


def _existing(patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        yield from sorted(path for path in glob.glob(os.path.expanduser(pattern)) if os.path.isfile(path))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""


# -- commands that hide the runner -------------------------------------------------------------------------------


def _hidden(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """For `make test`, `npm test` or `./ci.sh`: look for runners in the scripts, and at pytest's settings."""
    scripts = [*_named_scripts(command), *((os.path.basename(path), _lines(path)) for path in _existing(_SCRIPTS))]
    mentions = any(set(_PYTEST) & set(_SEPARATOR.split(line)) for _, lines in scripts for line in lines)
    found = _pytest((), environ) if environ.get("PYTEST_ADDOPTS") or mentions else ""
    return found or next(filter(None, (_in_script(name, lines) for name, lines in scripts)), "")


def _named_scripts(command: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Shell scripts that the command starts, and lines that it passes to a shell."""
    for word in command:
        if " " in word.strip():
            yield "the command", word.splitlines()
        elif os.path.isfile(word) and (word.endswith((".sh", ".bash")) or _read(word).startswith("#!")):
            yield os.path.basename(word), _read(word).splitlines()


def _lines(path: str) -> list[str]:
    """The lines of a script; for package.json only its scripts."""
    text = _read(path)
    if not path.endswith(".json"):
        return text.splitlines()
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError):
        return []
    return [str(line) for line in scripts.values()] if isinstance(scripts, dict) else []


def _in_script(name: str, lines: Sequence[str]) -> str:
    for line in lines:
        words = [word for word in _SEPARATOR.split(line) if word]
        for at, word in enumerate(words):
            reason = _of_program(_program(word), words[at + 1 :])
            if reason:
                return f"{reason} in {name}"
    return ""


def _of_program(program: str, arguments: Sequence[str]) -> str:
    if program in _PYTEST:
        option = pytest_settings.stopping_option([("the command", list(arguments))])
        return f"pytest stops at a failure ({option})" if option else ""
    return next((_reason(rule, arguments, {}) for rule in _FAIL_FAST if program in rule.programs), "")
