"""Sending what was recorded: each worker's file as a shard of its own, because only there its order is true."""

from __future__ import annotations

from typing import Any, Sequence

from flakeboard.api import Api
from flakeboard.metadata import clipped
from flakeboard.packing import named, pack
from flakeboard.settings import Settings


def send(settings: Settings, files: Sequence[tuple[str, str]], metadata: dict[str, Any]) -> list[str]:
    """Send (worker, path) pairs; the pages of the uploads."""
    pages = []
    for worker, path in files:
        shard = " ".join(filter(None, (metadata.get("shard"), worker)))
        told = clipped({**metadata, "shard": shard, "order": "executed"})
        with pack(named([path]), told) as package:
            answer = Api(settings).upload(package)
        pages.append(str(answer.get("page") or answer.get("url") or ""))
    return pages
