"""The end of a pytest session: whether all its tests ran, and the note about it for `flakeboard run`."""

from __future__ import annotations

import json
import os
import uuid
from typing import Any, Sequence

from flakeboard.plugin.recorder import Recorder

_INTERRUPTED, _INTERNAL = 2, 3


def cut_short(session: Any, recorder: Recorder, exit_status: int) -> str:
    """Why collected tests did not run; empty if all ran or nothing failed."""
    if exit_status == 0:
        return ""
    ran = len({node_id for sequence in recorder.sequences.values() for node_id in sequence.tests})
    collected = int(getattr(session, "testscollected", 0) or 0)
    if collected and ran >= collected and exit_status not in (_INTERRUPTED, _INTERNAL):
        return ""
    stopped = session.shouldfail or session.shouldstop
    if stopped:
        about = f"{ran:,} of {collected:,} tests ran" if collected else f"{ran:,} tests ran"
        return f"pytest stopped early ({stopped if isinstance(stopped, str) else 'on request'}): {about}"
    if exit_status in (_INTERRUPTED, _INTERNAL):
        return "pytest was interrupted" if exit_status == _INTERRUPTED else "pytest had an internal error"
    return f"{ran:,} of {collected:,} tests ran" if collected else ""


def leave_note(folder: str, config: Any, reports: Sequence[str], truncated: str) -> None:
    """Note which report to send. If that fails, `flakeboard run` sends pytest's own report."""
    own = getattr(config.option, "xmlpath", None)
    started_in = str(config.invocation_params.dir)
    replaces = [os.path.join(started_in, os.path.expanduser(os.path.expandvars(own)))] if own else []
    write_note(folder, {"reports": list(map(os.path.abspath, reports)), "replaces": replaces, "truncated": truncated})


def write_note(folder: str, note: dict[str, Any]) -> None:
    """A note appears as a whole, or not at all."""
    try:
        with open(os.path.join(folder, uuid.uuid4().hex + ".part"), "w", encoding="utf-8") as file:
            json.dump(note, file)
        os.replace(file.name, file.name[: -len(".part")] + ".json")
    except OSError:
        return
