"""The files in deploy/, read as those that use them would."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from dashboard.ops import tracing
from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
_READ = re.compile(r'environment\.[a-z_]+\(\s*"([A-Z_]+)"')


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((DEPLOY / "compose.yaml").read_text()))


def documents() -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in MANIFESTS:
        yield from ((path, document) for document in yaml.safe_load_all(path.read_text()) if document)


def assigned(path: Path) -> set[str]:
    """The variables of a file of NAME=value lines."""
    lines = (line for line in path.read_text().splitlines() if "=" in line and not line.startswith("#"))
    return {line.partition("=")[0] for line in lines}


def settings_read() -> set[str]:
    """Every variable that the code reads from the environment."""
    text = "\n".join(path.read_text() for path in (ROOT / "dashboard").rglob("*.py"))
    return {*_READ.findall(text), tracing.ENDPOINT} | {
        f"LIMIT_{name.upper()}" for name in settings.LIMITS.__dataclass_fields__
    }


def containers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and specification of every container of every workload."""
    for _, document in documents():
        if document["kind"] in ("Deployment", "Job"):
            for container in document["spec"]["template"]["spec"]["containers"]:
                yield document["metadata"]["name"], container
