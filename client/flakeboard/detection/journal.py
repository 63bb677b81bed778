"""The journal of an experiment: a JSON line for everything that ran, so that nothing has to run twice.

The procedure draws nothing but by its seed, and knows the time only as the journal has it. So a resumed experiment is
the same procedure once more, and a step that is written down is answered out of the journal. With another budget the
procedure asks for other steps in between; those that it asks for again still have their answers."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict, deque
from hashlib import blake2b
from typing import Any, Callable, Mapping

from flakeboard.problems import Problem

FOLDER = ".flakeboard"
ANSWER, BUDGET = "answer", "budget"


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
        self.entries: list[dict[str, Any]] = list(known or [])
        """Everything that ran, of this call and of those before it."""
        self.answer: dict[str, Any] | None = None
        """What the experiment found, as of the latest call that came to an end."""
        self.budget: float | None = None
        """Minutes, where a later call gave others than the first."""
        self.is_resumed = bool(known)
        self._known: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        """By step: what earlier calls wrote down and this one has not asked for yet."""
        for entry in self.entries:
            self._known[entry["step"]].append(entry)
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
        if not all(isinstance(entry, dict) for entry in (head, *known)):
            raise Problem(f"{path} is not the journal of an experiment.")
        if len(whole) != len(content):
            with open(path, "r+b") as file:
                file.truncate(len(whole))
        journal = cls(path, head, [entry for entry in known if "step" in entry], clock)
        for entry in known:
            if entry.get("kind") == ANSWER:
                journal.answer = entry["answer"]
            elif entry.get("kind") == BUDGET:
                journal.budget = entry["minutes"]
        return journal

    @property
    def spent(self) -> float:
        """Seconds of the whole experiment, as of the latest step."""
        return self._spent

    def step(self, what: Mapping[str, Any], compute: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """The outcome of a step: out of the journal, else computed and written down."""
        name = _name_of(what)
        if self._known[name]:
            entry = self._known[name].popleft()
            self._since = self._clock()
        else:
            outcome = compute()
            now = self._clock()
            took, self._since = now - self._since, now
            known = {"step": name, "n": len(self.entries) + 1, "at": round(time.time(), 3), "took": round(took, 4)}
            entry = {**what, **outcome, **known}
            self._append(entry)
            self.entries.append(entry)
        self._spent = round(self._spent + entry["took"], 4)
        return entry

    def change_budget(self, minutes: float) -> None:
        self.budget = minutes
        self._append({"kind": BUDGET, "minutes": minutes})

    def conclude(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self._append({"kind": ANSWER, "answer": answer})

    def _append(self, entry: dict[str, Any]) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _name_of(what: Mapping[str, Any]) -> str:
    """Tells a step from others; equal ones are answered in turn."""
    return blake2b(json.dumps(dict(what), sort_keys=True).encode(), digest_size=8).hexdigest()


def _ignore(folder: str) -> None:
    """Keep our folder out of commits, unless the project keeps it on purpose."""
    path = os.path.join(folder, ".gitignore")
    if os.path.basename(folder) == FOLDER and not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("*\n")
