"""What makes a runner stop at a failure: options, variables, settings files, and scripts that hide the runner."""

from __future__ import annotations

from pathlib import Path

import pytest
from flakeboard.truncation.build_modules import modules_left_out
from flakeboard.truncation.fail_fast import stopping_option


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        *("pytest -x", "python -m pytest -vx", "pytest --maxfail=3", "pytest --maxfail 1", "pytest --sw"),
        *("npx jest --bail", "jest -b", "jest --bail=2", "npx vitest run --bail=1", "npx playwright test -x"),
        *("playwright test --max-failures=5", "mocha --bail", "mocha -b", "go test -failfast ./...", "ava --fail-fast"),
        *("gotestsum --junitfile r.xml -- -failfast ./...", "gotestsum --max-fails=1", "ginkgo --fail-fast"),
        *("bundle exec rspec --fail-fast", "rspec --fail-fast=2", "mvn -Dsurefire.skipAfterFailureCount=1 test"),
        *("./gradlew test --fail-fast", "vendor/bin/phpunit --stop-on-failure", "cargo nextest run"),
        *("ctest --stop-on-failure", "robot --exitonfailure tests", "robot -X tests", "behave --stop"),
        *("python -m unittest -f", "manage.py test --failfast", "bazel test --notest_keep_going //..."),
        *(
            "mix test --max-failures 1",
            "cucumber --fail-fast",
            "cargo test",
            "npx turbo run test",
            "bin/rails test --fail-fast",
        ),
    ],
)
def test_an_option_that_stops_is_found(folder: Path, command: str) -> None:
    assert "stops at" in stopping_option(command.split(), {})


@pytest.mark.parametrize(
    "command",
    [
        *("pytest", "pytest -k max", "pytest --maxfail=0", "pytest -x --maxfail=0", "pytest -kextra", "npx jest --ci"),
        *("jest --bail=false", "jest --bail=0", "vitest run", "go test ./...", "rspec", "rspec --fail-fast=0"),
        *("mvn test", "gradle test", "cargo nextest run --no-fail-fast", "robot tests", "make test", "npm test"),
        *("cargo test --no-fail-fast", "turbo run test --continue", "lerna run test --no-bail", "bun test"),
    ],
)
def test_a_command_that_goes_on_is_not_suspected(folder: Path, command: str) -> None:
    assert stopping_option(command.split(), {}) == ""


@pytest.mark.parametrize(
    ("file", "content", "command"),
    [
        ("pytest.ini", "[pytest]\naddopts = -q\n    --maxfail=1\n", "pytest"),
        ("setup.cfg", "[tool:pytest]\naddopts = -x\n", "pytest"),
        ("tox.ini", "[pytest]\naddopts = -x\n", "pytest"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-q", "-x"]\n', "pytest"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = """\n-q\n--exitfirst\n"""\n', "pytest"),
        ("jest.config.js", "module.exports = {bail: true}", "npx jest"),
        ("package.json", '{"jest": {"bail": 1}}', "npx jest"),
        (".mocharc.json", '{"bail": true}', "npx mocha"),
        ("vitest.config.ts", "export default {test: {bail: 1}}", "npx vitest run"),
        ("playwright.config.ts", "export default {maxFailures: process.env.CI ? 10 : 0}", "npx playwright test"),
        (".rspec", "--require spec_helper\n--fail-fast\n", "rspec"),
        ("spec/spec_helper.rb", "RSpec.configure do |config|\n  config.fail_fast = true\nend\n", "rspec"),
        ("pom.xml", "<skipAfterFailureCount>1</skipAfterFailureCount>", "mvn test"),
        ("build.gradle", "test {\n  failFast = true\n}", "./gradlew test"),
        ("phpunit.xml", '<phpunit stopOnFailure="true"/>', "phpunit"),
        ("Makefile", "test:\n\tpytest -x --junitxml=r.xml\n", "make test"),
        ("Makefile", "test:\n\tgo test -failfast ./...\n", "make test"),
        ("package.json", '{"scripts": {"test": "jest --ci --bail"}}', "npm test"),
        ("ci/test.sh", "#!/bin/sh\nset -e\nnpm ci\nnpx jest --ci --bail\n", "bash ci/test.sh"),
        ("jest.config.ts", "export default {bail: process.env.CI ? 1 : 0}", "npx jest"),
        ("tox.ini", "[testenv]\ncommands = pytest {posargs:-x}\n", "tox"),
    ],
)
def test_a_setting_that_stops_is_found_and_named(folder: Path, file: str, content: str, command: str) -> None:
    assert stopping_option(command.split(), {}) == ""
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(content)
    assert Path(file).name in stopping_option(command.split(), {})


def test_what_a_shell_is_given_to_run_is_read(folder: Path) -> None:
    assert "the command" in stopping_option(["sh", "-c", "npm ci && pytest -q -x"], {})
    assert stopping_option(["sh", "-c", "npm ci && pytest -q"], {}) == ""


@pytest.mark.parametrize(
    ("file", "content", "command"),
    [
        ("package.json", '{"dependencies": {"bail": "^2.0.0"}}', "npx jest"),
        ("jest.config.js", "module.exports = {bail: false}", "npx jest"),
        (".config/nextest.toml", "[profile.ci]\nfail-fast = false\n", "cargo nextest run --profile ci"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-q -ra"\n[tool.x]\ny = "-x"\n', "pytest"),
    ],
)
def test_a_setting_that_goes_on_is_not_suspected(folder: Path, file: str, content: str, command: str) -> None:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(content)
    assert stopping_option(command.split(), {}) == ""


def test_variables_with_options_are_read(folder: Path) -> None:
    for command, variable, value in (
        ("pytest", "PYTEST_ADDOPTS", "-q -x"),
        ("rspec", "SPEC_OPTS", "--fail-fast"),
        ("go test ./...", "GOFLAGS", "-mod=mod -failfast"),
        ("make test", "PYTEST_ADDOPTS", "-x"),
    ):
        assert variable in stopping_option(command.split(), {variable: value})


# -- builds of several modules -----------------------------------------------------------------------------------


def test_a_module_behind_the_one_that_failed_is_missed(folder: Path) -> None:
    (folder / "pom.xml").write_text("<project><modules><module>core</module><module>web</module></modules></project>")
    for module in ("core", "web"):
        (folder / module / "src" / "test").mkdir(parents=True)
        (folder / module / "pom.xml").write_text(f"<project><artifactId>shop-{module}</artifactId></project>")
        (folder / module / "target" / "surefire-reports").mkdir(parents=True)
    core, web = (f"{module}/target/surefire-reports/TEST-a.xml" for module in ("core", "web"))
    assert "web has tests but wrote no report" in modules_left_out(["mvn", "test"], [core])
    assert modules_left_out(["mvn", "test"], [core, web]) == ""
    for chosen in ("-pl core", "--projects=core", "-pl :shop-core", "-pl !web"):
        assert modules_left_out(["mvn", *chosen.split(), "test"], [core]) == "", chosen
    assert "web has tests" in modules_left_out(["mvn", "-pl", "core,web", "test"], [core])


def test_gradle_with_several_projects_must_go_on(folder: Path) -> None:
    (folder / "settings.gradle").write_text("rootProject.name = 'shop'\ninclude 'core', 'web'\n")
    assert "--continue" in modules_left_out(["./gradlew", "test"], [])
    assert modules_left_out(["./gradlew", "test", "--continue"], []) == ""
