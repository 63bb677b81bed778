"""What deploy/ says exists: every command, every variable, every address; and it keeps its own rules."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from tests.conftest import ROOT
from tests.deploy.files import DEPLOY, UNITS, assigned, compose, containers, documents, settings_read

IMAGE_OWN = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PIP_NO_CACHE_DIR", "PIP_DISABLE_PIP_VERSION_CHECK"}
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def commands() -> Iterator[tuple[str, list[str]]]:
    """Where a command of ours is named, and its words."""
    for name, service in compose()["services"].items():
        if service["image"].startswith("flakeboard"):
            yield f"compose {name}", service["command"]
    for name, container in containers():
        yield f"kubernetes {name}", container["args"]
    for unit in UNITS:
        yield unit.name, re.search(r"^ExecStart=\S+ manage.py (.*)$", unit.read_text(), re.MULTILINE)[1].split()
    yield "Dockerfile", re.search(r"^CMD \[(.*)\]", DOCKERFILE, re.MULTILINE)[1].replace('"', "").split(", ")


@pytest.mark.parametrize(
    ("where", "words"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_exists_and_takes_its_words(where: str, words: list[str]) -> None:
    assert get_commands().get(words[0]) == "dashboard", where
    load_command_class("dashboard", words[0]).create_parser("manage.py", words[0]).parse_args(words[1:])


def test_every_queue_has_a_worker_wherever_it_is_run() -> None:
    for kind in ("compose", "kubernetes", "flakeboard-"):
        served = {
            word for where, words in commands() if where.startswith(kind) and words[0] == "worker" for word in words[1:]
        }
        assert served == set(settings.QUEUES), kind


def variables() -> Iterator[tuple[str, str]]:
    for name in assigned(DEPLOY / "flakeboard.env.example"):
        yield "flakeboard.env.example", name
    for _, document in documents():
        if document["kind"] == "ConfigMap":
            yield from (("ConfigMap", name) for name in document["data"])
    for unit in UNITS:
        for line in re.findall(r"^Environment=(.*)$", unit.read_text(), re.MULTILINE):
            yield from ((unit.name, word.partition("=")[0]) for word in line.split())
    image = " ".join(re.findall(r"^ENV ((?:.*\\\n)*.*)$", DOCKERFILE, re.MULTILINE)).replace("\\\n", " ")
    yield from (("Dockerfile", name) for name in re.findall(r"(\w+)=", image) if name not in IMAGE_OWN)


def test_every_variable_is_one_that_we_read() -> None:
    named = set(variables())
    assert {where for where, _ in named} >= {
        "flakeboard.env.example",
        "ConfigMap",
        "Dockerfile",
        "flakeboard-web.service",
    }
    unknown = {(where, name) for where, name in named if name not in settings_read()}
    assert unknown == {("flakeboard.env.example", "POSTGRES_PASSWORD")}  # PostgreSQL's own, for the compose file


def test_no_secret_is_in_any_file() -> None:
    for name in ("SECRET_KEY", "METRICS_TOKEN", "DATABASE_URL"):
        assert name not in DOCKERFILE
        for _, document in documents():
            assert name not in str(document.get("data", {}))
    assert re.search(r"^SECRET_KEY=$", (DEPLOY / "flakeboard.env.example").read_text(), re.MULTILINE)


def test_everything_that_the_image_copies_is_there() -> None:
    copied = [
        line.split()[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY") and "--from" not in line
    ]
    for path in sum(copied, []):
        assert (ROOT / path).exists(), path
        assert f"!{path}" in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()


def test_the_image_has_every_folder_that_the_server_reads() -> None:
    """What is on the path of its modules, or named in its settings; what is left is for those who develop."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {path.partition("/")[0] for path in tracked.split("\0") if "/" in path and not path.startswith(".")}
    copied = set(re.findall(r"^COPY (\w+) \1$", DOCKERFILE, re.MULTILINE))
    assert folders - copied == {"tests", "bench", "tools", "deploy", "integrations"}


def test_nothing_runs_as_root_or_may_become_it() -> None:
    assert re.search(r"^USER 10001", DOCKERFILE, re.MULTILINE)
    for name, container in containers():
        assert container["securityContext"]["allowPrivilegeEscalation"] is False, name
        assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
        assert container["resources"]["limits"]["memory"], name
    for _, document in documents():
        if document["kind"] in ("Deployment", "Job"):
            assert document["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] is True
    for unit in UNITS:
        assert {"User=flakeboard", "NoNewPrivileges=yes", "ProtectSystem=strict"} <= set(unit.read_text().splitlines())
    for name, service in compose()["services"].items():
        if service["image"].startswith("flakeboard"):
            assert service["cap_drop"] == ["ALL"] and service["read_only"], name


def test_probes_ask_addresses_that_answer() -> None:
    asked = {
        container[probe]["httpGet"]["path"]
        for _, container in containers()
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
        if probe in container
    }
    assert asked == {"/health/live", "/health/ready"}
    assert all(resolve(path) for path in asked)
    assert "/health/ready" in DOCKERFILE


def test_the_proxy_lets_in_what_we_let_in() -> None:
    """A smaller limit there would refuse honest uploads before we can say why."""
    nginx = (DEPLOY / "proxy" / "nginx.conf").read_text()
    caddy = (DEPLOY / "proxy" / "Caddyfile").read_text()
    limit = settings.LIMITS.bytes_in
    assert int(re.search(r"client_max_body_size (\d+)m;", nginx)[1]) * 2**20 > limit
    assert int(re.search(r"max_size (\d+)MB", caddy)[1]) * 10**6 > limit
    assert "X-Forwarded-Proto $scheme" in nginx
    assert "/metrics" in nginx and "/metrics" in caddy


def test_every_resource_of_the_kustomization_is_there() -> None:
    folder = DEPLOY / "kubernetes"
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    assert set(listed) == {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}


# -- the tools of those who will read them ------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    for unit in [*UNITS, DEPLOY / "systemd" / "flakeboard.target"]:
        text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
        (tmp_path / unit.name).write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300)
    ours = [line for line in (said.stdout + said.stderr).splitlines() if "flakeboard" in line]
    assert (said.returncode, ours) == (0, [])


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not here")
def test_kustomize_builds_the_manifests() -> None:
    built = subprocess.run(["kubectl", "kustomize", str(DEPLOY / "kubernetes")], capture_output=True, check=True)
    kinds = [document["kind"] for document in yaml.safe_load_all(built.stdout)]
    assert (kinds.count("Deployment"), kinds.count("Job"), kinds.count("Service")) == (5, 1, 1)


LINTERS = {
    "check-jsonschema": ["--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yaml")],
    "hadolint": [str(DEPLOY / "Dockerfile")],
    "yamllint": [
        "--strict",
        "-d",
        "{extends: default, rules: {document-start: disable, line-length: {max: 130}}}",
        str(DEPLOY),
    ],
    "kubernetes-validate": ["--strict", *map(str, sorted((DEPLOY / "kubernetes").glob("[!k]*.yaml")))],
}


@pytest.mark.parametrize("linter", LINTERS)
def test_linters_find_nothing(linter: str) -> None:
    import sys

    program = shutil.which(linter, path=f"{Path(sys.executable).parent}") or shutil.which(linter)
    assert program, f"{linter} is in requirements-dev.txt and not installed"
    done = subprocess.run([program, *LINTERS[linter]], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_may_be_open_in_numbers_wherever_it_is_run() -> None:
    for unit in UNITS:
        assert int(re.search(r"^LimitNOFILE=(\d+)$", unit.read_text(), re.MULTILINE)[1]) >= 65_536, unit.name
    for name, service in compose()["services"].items():
        if service["image"].startswith("flakeboard"):
            assert service["ulimits"]["nofile"] >= 65_536, name
