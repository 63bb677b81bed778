"""`flakeboard upload`: upload report files. A failure is only a warning, unless --strict is given."""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

from flakeboard import console
from flakeboard.alerts import alert
from flakeboard.console import plain
from flakeboard.detection.journal import Journal
from flakeboard.detection.report.delivery import Sender
from flakeboard.options import add_attachments, add_connection, add_metadata, metadata_of, settings_of
from flakeboard.problems import Problem, Unreachable
from flakeboard.reach.change import companions
from flakeboard.reports import attachments, files
from flakeboard.server import attachments as attached
from flakeboard.server import batches
from flakeboard.server.api import Api
from flakeboard.server.upload_notes import merged_names, not_read

_WAITING = frozenset({"received", "processing"})


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("upload", help="send report files", description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="glob", help="report files; ** is any number of folders")
    parser.add_argument("--experiment", default="", metavar="FILE", help="send an experiment that detect kept instead")
    parser.add_argument(
        "--strict", action="store_true", help="wait for the server, and exit with 1 unless every file was sent and read"
    )
    add_attachments(parser)
    add_connection(parser)
    add_metadata(parser)
    parser.set_defaults(command=upload, parser=parser)


def upload(options: argparse.Namespace) -> int:
    if bool(options.patterns) == bool(options.experiment):
        options.parser.error("give report files, or an experiment with --experiment FILE")
    try:
        return _send_experiment(options) if options.experiment else _Upload(options).run()
    except Problem as problem:
        alert(f"nothing was sent: {problem}")
        return 1 if options.strict else 0


def _send_experiment(options: argparse.Namespace) -> int:
    journal = Journal.open(options.experiment)
    reply = Sender(Api(settings_of(options)), journal).send()
    console.say(str(reply.get("url") or ""))
    return 0


class _Upload:
    def __init__(self, options: argparse.Namespace) -> None:
        self._strict = options.strict
        self._settings = settings_of(options)
        self._metadata = metadata_of(options)
        self._api = Api(self._settings)
        paths, self._unsent = batches.readable(files.find(options.patterns))
        unmatched = [pattern for pattern in options.patterns if not files.matching(pattern)]
        self._unsent += [plain(f"{pattern} matched nothing") for pattern in unmatched]
        if not paths:
            raise Problem("no file could be sent: {}.".format("; ".join(self._unsent)))
        self._paths = paths
        self._attachments = attachments.find(options.attach, paths)

    def run(self) -> int:
        """Send every file that can be sent, and name the others here and to the server."""
        with tempfile.TemporaryDirectory(prefix="flakeboard-") as folder:
            besides, line = companions(self._api, self._metadata, folder)
            if line:
                console.warn(line)
            self._paths += besides
            return self._sent()

    def _sent(self) -> int:
        answers, count, size = self._send()
        console.say("sent {} in {}.".format(_count(count, "file"), _size(size)))
        for answer in answers:
            console.say(str(answer.get("page") or answer.get("url") or ""))
        if answers:
            attached.send(self._api, answers[-1].get("id"), self._attachments)
        uploads = [self._read(answer) for answer in answers]
        unread = [line for upload in uploads for line in not_read(upload, waited=self._strict)]
        for line in (*self._unsent, *unread, *(line for upload in uploads for line in merged_names(upload))):
            alert(line)
        return 1 if self._strict and (self._unsent or unread) else 0

    def _send(self) -> tuple[list[dict[str, Any]], int, int]:
        answers, count, size = [], 0, 0
        groups = batches.grouped(self._paths, self._metadata)
        for number, group in enumerate(groups):
            metadata = {**self._metadata, "unsent": self._unsent} if self._unsent else self._metadata
            try:
                answer, sent = batches.upload_group(self._api, group, metadata)
            except Problem as problem:
                lost = groups[number:] if isinstance(problem, Unreachable) else [group]
                self._unsent += [batches.lost(batch, problem) for batch in lost]
                if len(groups) == 1:
                    raise
                if isinstance(problem, Unreachable):
                    break
                continue
            answers.append(answer)
            count, size = count + len(group), size + sent
        return answers, count, size

    def _read(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The upload once it is processed, if --strict waits for that; else as it is."""
        if not self._strict or "id" not in answer:
            return answer
        deadline = time.monotonic() + self._settings.timeout
        while answer.get("state") in _WAITING and deadline - time.monotonic() > 1:
            answer = self._api.upload_of(int(answer["id"]), deadline - time.monotonic())
            if answer.get("state") in _WAITING:
                time.sleep(min(1.0, max(deadline - time.monotonic(), 0.0)))
        return answer


def _count(number: int, word: str) -> str:
    return "{:,} {}{}".format(number, word, "" if number == 1 else "s")


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
