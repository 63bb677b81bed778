"""Experiments on one test, as they are sent: announced and ended in one go, with their answer."""

from __future__ import annotations

import argparse
import json
import secrets
from typing import Any, Mapping

from flakeboard import console
from flakeboard.options import metadata_of, settings_of
from flakeboard.problems import NotConfigured, Problem
from flakeboard.server.api import Api


def send_answer(
    options: argparse.Namespace, protocol: str, parameters: Mapping[str, Any], answer: Mapping[str, Any]
) -> None:
    """Send the experiment, where a server is configured; a failure is only reported."""
    try:
        api = Api(settings_of(options))
    except NotConfigured:
        return
    metadata = metadata_of(options)
    key = secrets.token_hex(8)
    revision = {name: metadata[name] for name in ("commit", "tree", "branch") if metadata.get(name)}
    stated = {**parameters, "command": list(options.words)} if options.words else dict(parameters)
    announced = {"key": key, "protocol": protocol, "parameters": stated, "seed": "", "revision": revision}
    try:
        api.post("experiments", _bytes({**announced, "environment": metadata.get("environment") or {}, "whole": False}))
        reply = api.post(f"experiments/{key}/finish", _bytes(answer))
    except Problem as problem:
        console.warn(f"the experiment was not sent: {problem}")
        return
    if not options.json:
        console.say(str(reply.get("url") or ""))


def _bytes(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body).encode("ascii")
