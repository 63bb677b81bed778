"""What a changed file is, by its path alone: a test, code, something that the build reads, or none of these. Pure.

See docs/concepts.md#what-changed-at-the-onset."""

import re
from collections.abc import Iterable
from enum import StrEnum

from ingest.identity import TestName


class FileKind(StrEnum):
    TEST = "test"
    CODE = "code"
    BUILD = "build"
    OTHER = "other"
    """Texts, pictures, data outside of tests."""


def kind_of_file(path: str) -> FileKind:
    """Build files first, wherever they are; what lies among tests is part of them, whatever it is."""
    if is_build_file(path):
        return FileKind.BUILD
    if is_test_file(path):
        return FileKind.TEST
    return FileKind.CODE if path.rpartition(".")[2].lower() in _LANGUAGES and "." in path else FileKind.OTHER


# -- what the build reads ----------------------------------------------------------------------------------------

_BUILD_NAMES = frozenset(
    (
        *("pytest.ini", ".pytest.ini", "tox.ini", "setup.py", "setup.cfg", "pyproject.toml", "noxfile.py", "Makefile"),
        *("Pipfile", "environment.yml", ".python-version", "sitecustomize.py", "usercustomize.py", ".gitmodules"),
        *(".gitlab-ci.yml", ".travis.yml", ".drone.yml", "Jenkinsfile", "azure-pipelines.yml", "appveyor.yml"),
        *("bitbucket-pipelines.yml", ".coveragerc", "package-lock.json", "yarn.lock", "CMakeLists.txt"),
        *("pom.xml", "build.xml", "ivy.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "gradlew"),
        *("settings.gradle.kts", "gradle.properties", "gradle-wrapper.properties", "build.sbt", "mvnw"),
        *(
            "package.json",
            "pnpm-lock.yaml",
            "pnpm-workspace.yaml",
            "tsconfig.json",
            ".npmrc",
            ".nvmrc",
            "babel.config.js",
        ),
        *("go.mod", "go.sum", "Cargo.toml", "Gemfile", "Rakefile", ".ruby-version", "composer.json", "phpunit.xml"),
        *("BUILD", "BUILD.bazel", "WORKSPACE", "MODULE.bazel", "meson.build", "configure.ac", "docker-compose.yml"),
    )
)
_BUILD_FOLDERS = (".github/", ".circleci/", ".buildkite/", ".gitlab/", ".ci/")
_BUILD_PATTERN = re.compile(
    r"(?:.*/)?(?:requirements|constraints)[^/]*(?:\.txt|\.in)|(?:.*/)?requirements/[^/]+|(?:.*/)?Dockerfile[^/]*"
    r"|(?:.*/)?(?:jest|vitest|vite|webpack|playwright|karma)\.config\.[cm]?[jt]s|.*\.(?:lock|gradle|csproj|sln|cmake|mk)"
)


def is_build_file(path: str) -> bool:
    """Dependencies, settings of builds and of test runners, and CI."""
    name = path.rpartition("/")[2]
    return name in _BUILD_NAMES or path.startswith(_BUILD_FOLDERS) or bool(_BUILD_PATTERN.fullmatch(path))


# -- tests -------------------------------------------------------------------------------------------------------

_TEST_FOLDERS = frozenset(("test", "tests", "__tests__", "spec", "specs", "testing", "testdata", "e2e", "androidTest"))
_TEST_NAME = re.compile(
    r"test_.+|.+[_.-](?:test|tests|spec|specs)\.\w+|conftest\.py"
    r"|(?:Test[A-Z].*|.*[a-z0-9](?:Test|Tests|TestCase|IT|Spec))\.(?:java|kt|kts|groovy|scala|cs|swift|php|m|mm)"
)


def is_test_file(path: str) -> bool:
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or bool(_TEST_NAME.fullmatch(name))


_LANGUAGES = frozenset(
    (
        *(
            "py",
            "pyi",
            "pyx",
            "pxd",
            "c",
            "h",
            "cc",
            "cpp",
            "cxx",
            "hpp",
            "hh",
            "rs",
            "go",
            "java",
            "kt",
            "kts",
            "scala",
        ),
        *(
            "groovy",
            "clj",
            "js",
            "jsx",
            "mjs",
            "cjs",
            "ts",
            "tsx",
            "vue",
            "svelte",
            "rb",
            "php",
            "cs",
            "fs",
            "vb",
            "swift",
        ),
        *(
            "m",
            "mm",
            "pl",
            "pm",
            "lua",
            "r",
            "jl",
            "ex",
            "exs",
            "erl",
            "hs",
            "ml",
            "dart",
            "f",
            "f90",
            "sql",
            "sh",
            "bash",
        ),
        *("ps1", "proto", "html", "css", "scss", "erb", "j2"),
    )
)


# -- a test's own file -------------------------------------------------------------------------------------------


def is_own_file(path: str, test: TestName) -> bool:
    """Whether a file is the one that has the test: by the report's word, else by the name of its class or module.

    Reports name files from where the runner stood, which may lie below or above the top of the checkout."""
    if test.file:
        file = test.file.replace("\\", "/")
        return ("/" + path).endswith("/" + file) or ("/" + file).endswith("/" + path)
    module = path.rpartition(".")[0].replace("/", ".")
    classname = test.classname.partition("$")[0]
    if not module or not classname or not ("." in classname or is_test_file(path)):
        return False
    return (classname + ".").startswith(module + ".") or ("." + module).endswith("." + classname)


class OwnFiles:
    """Finds the own file of tests among many paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_word: dict[str, list[str]] = {}
        for path in paths:
            name = path.rpartition("/")[2]
            for word in {name, name.partition(".")[0]}:
                self._by_word.setdefault(word, []).append(path)

    def of(self, test: TestName) -> frozenset[str]:
        if test.file:
            words = {test.file.replace("\\", "/").rpartition("/")[2]}
        else:
            words = {part.partition("$")[0] for part in test.classname.split(".")}
        return frozenset(path for word in words for path in self._by_word.get(word, ()) if is_own_file(path, test))
