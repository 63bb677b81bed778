"""What each queue's workers may use. Pure: settings are made of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueueLimits:
    seconds: int
    """A task that takes longer is ended."""
    memory_kb: int
    """A worker process that is larger after a task is replaced."""
    processes: int


def together(limits: list[QueueLimits]) -> QueueLimits:
    """Of a worker that serves several queues: what the most demanding of them needs, and processes for each."""
    return QueueLimits(
        seconds=max(one.seconds for one in limits),
        memory_kb=max(one.memory_kb for one in limits),
        processes=sum(one.processes for one in limits),
    )
