"""Sending an experiment: it is announced, its runs are uploaded, and at the end the server is told what was found."""

from __future__ import annotations

import json
import tempfile
from typing import Any, Mapping

from flakeboard.console import say
from flakeboard.detection.journal import Journal
from flakeboard.detection.report.archive import write_files
from flakeboard.detection.report.roster import roster_of
from flakeboard.problems import Problem, Refused
from flakeboard.server.api import Api
from flakeboard.server.batches import send_all

_ANNOUNCED = ("commit", "tree", "branch")
_WAIT = 60.0
_IGNORED = ("build_id", "build_url", "pull_request", "attempt", "job", "shard", "default_branch", "order", "fork")


class Sender:
    def __init__(self, api: Api, journal: Journal) -> None:
        self._api = api
        self._journal = journal
        self._metadata: dict[str, Any] = dict(journal.head.get("metadata") or {})

    def announce(self) -> None:
        """Make the experiment known; again is no harm."""
        head, metadata = self._journal.head, self._metadata
        body = {
            "key": head["key"],
            "protocol": head["protocol"],
            "parameters": head["parameters"],
            "seed": head["seed"],
            "revision": {name: metadata[name] for name in _ANNOUNCED if metadata.get(name)},
            "environment": metadata.get("environment") or {},
            "whole": bool(head["whole"]),
        }
        if metadata.get("host"):
            body["host"] = metadata["host"]
        self._api.post("experiments", _bytes(body))

    def send(self) -> dict[str, Any]:
        """Upload all runs and tell what was found; the server's answer."""
        answer = self._journal.answer
        if answer is None:
            raise Problem("the experiment has not come to its end: go on with --resume first.")
        self.announce()
        roster = roster_of(self._journal)
        if roster is not None:
            with tempfile.TemporaryDirectory(prefix="flakeboard-") as folder:
                files, probes = write_files(self._journal, roster, folder)
                answer = {**answer, "probes": probes}
                self._upload(files, folder)
        return self.finish(answer)

    def finish(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Say how the experiment ended; said again it replaces what was said before."""
        return self._api.post(f"experiments/{self._journal.head['key']}/finish", _bytes(answer))

    def _upload(self, files: list[str], folder: str) -> None:
        if not files:
            return
        metadata = {name: value for name, value in self._metadata.items() if name not in _IGNORED}
        metadata["experiment"] = self._journal.head["key"]
        try:
            sent = send_all(self._api, files, metadata, folder)
        except Refused as refused:
            if refused.code == "unknown_field":
                raise Problem("the server is too old for experiments.") from None
            raise
        say(f"sent {len(files):,} files of the experiment")
        for number in sent:
            if number is not None:
                self._api.upload_of(int(number), _WAIT)


def _bytes(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body).encode("ascii")
