"""Shows how the reader understands files, without storing anything: use it to find out why a file is misread."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ingest.junit.upload import FileOutcome, read_files


class Command(BaseCommand):
    help = "Show what the reader makes of report files or archives; nothing is stored."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", help="reports, archives, or folders of them")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        show = self._json if options["json"] else self._text
        for path in _files(options["files"]):
            with path.open("rb") as stream:
                for outcome in read_files([(str(path), stream)], settings.LIMITS):
                    show(path, outcome)

    def _json(self, path: Path, outcome: FileOutcome) -> None:
        self.stdout.write(json.dumps(outcome.as_dict(), ensure_ascii=False))

    def _text(self, path: Path, outcome: FileOutcome) -> None:
        facts = outcome.as_dict()
        self.stdout.write(f"{facts['path']}: {facts['account'].replace('_', ' ')}")
        if outcome.error:
            self.stdout.write(f"  refused ({outcome.error.code}): {outcome.error}")
            return
        counts = ", ".join(f"{facts[name]} {name}" for name in ("passed", "failed", "errored", "skipped"))
        self.stdout.write(f"  {facts['producer']}: {facts['tests']} tests in {facts['suites']} suites: {counts}")
        order = "is" if facts["order_reliable"] else "is not known to be"
        self.stdout.write(f"  {facts['attempts']} attempts; the file's order {order} the order of execution")
        for error in outcome.report.run_errors if outcome.report else ():
            self.stdout.write(f"  run error in {error.where}: {error.failure.message[:200]}")
        for unclear in outcome.report.not_understood if outcome.report else ():
            self.stdout.write(f"  not understood ({unclear.code}, {unclear.count} times): {unclear.sentence}")
        for warning in outcome.report.warnings if outcome.report else ():
            place = f" (line {warning.line}, column {warning.column})" if warning.line else ""
            self.stdout.write(f"  warning ({warning.code}, {warning.count} times): {warning.sentence}{place}")


def _files(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        path = Path(name)
        if path.is_dir():
            yield from sorted(found for found in path.rglob("*") if found.is_file())
        elif path.is_file():
            yield path
        else:
            raise CommandError(f"{name} is neither a file nor a folder.")
