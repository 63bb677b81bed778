"""The journal of an experiment: a JSON line for everything that ran, so that nothing has to run twice.

The procedure draws nothing but by its seed, and knows the time only as the journal has it. So a resumed experiment is
the same procedure once more, and each step is answered out of the journal as long as there are answers."""

from __future__ import annotations

import json
import os
import time
from typing import Any, Callable, Mapping

from flakeboard.problems import Problem

FOLDER = ".flakeboard"
ANSWER = "answer"


def path_of(name: str) -> str:
    """The journal of an experiment, or of one iteration of it on this machine."""
    return os.path.join(FOLDER, f"experiment-{name}.jsonl")


class Journal:
    def __init__(
        self,
        path: str,
        head: Mapping[str, Any],
        known: list[dict[str, Any]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.head = dict(head)
        self.entries: list[dict[str, Any]] = []
        """Everything that ran, of this call and of those before it."""
        self.answer: dict[str, Any] | None = None
        """What the experiment found, as of the latest call that came to an end."""
        self._known = list(known or [])
        self._spent = 0.0
        self._clock = clock
        self._since = clock()

    @classmethod
    def create(cls, path: str, head: Mapping[str, Any], clock: Callable[[], float] = time.monotonic) -> Journal:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(json.dumps(dict(head)) + "\n")
        _ignore(os.path.dirname(os.path.abspath(path)))
        return cls(path, head, clock=clock)

    @classmethod
    def open(cls, path: str, clock: Callable[[], float] = time.monotonic) -> Journal:
        """A journal that is there. Its last line may be torn by whatever ended the experiment: it is cut off."""
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise Problem(f"{path} cannot be read: {error.strerror or error}") from None
        whole = content[: content.rfind(b"\n") + 1]
        try:
            head, *known = [json.loads(line) for line in whole.split(b"\n") if line]
        except ValueError:
            raise Problem(f"{path} is not the journal of an experiment.") from None
        if len(whole) != len(content):
            with open(path, "r+b") as file:
                file.truncate(len(whole))
        answers = [entry for entry in known if entry.get("kind") == ANSWER]
        journal = cls(path, head, [entry for entry in known if entry.get("kind") != ANSWER], clock)
        journal.answer = answers[-1]["answer"] if answers else None
        return journal

    @property
    def spent(self) -> float:
        """Seconds of the whole experiment, as of the latest step."""
        return self._spent

    @property
    def replays(self) -> bool:
        """Whether the next step is one that an earlier call ran."""
        return bool(self._known)

    def step(self, what: Mapping[str, Any], compute: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """The outcome of a step: out of the journal, else computed and written down."""
        if self._known:
            entry = self._known.pop(0)
            if {name: entry.get(name) for name in what} != json.loads(json.dumps(dict(what))):
                raise Problem(
                    "the journal does not fit: it was written by another version, or the options or tests are others."
                )
            self._since, self._spent = self._clock(), float(entry["spent"])
        else:
            outcome = compute()
            now = self._clock()
            self._spent, self._since = self._spent + now - self._since, now
            entry = {**what, **outcome, "at": round(time.time(), 3), "spent": round(self._spent, 4)}
            self._spent = entry["spent"]
            self._append(entry)
        self.entries.append(entry)
        return entry

    def conclude(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self._append({"kind": ANSWER, "answer": answer})

    def read_on(self) -> None:
        """Take everything that is written down as having happened, without repeating the procedure."""
        self.entries, self._known = [*self.entries, *self._known], []

    def _append(self, entry: dict[str, Any]) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _ignore(folder: str) -> None:
    """Keep our folder out of commits, unless the project keeps it on purpose."""
    path = os.path.join(folder, ".gitignore")
    if os.path.basename(folder) == FOLDER and not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("*\n")
