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
        seconds=max(limit.seconds for limit in limits),
        memory_kb=max(limit.memory_kb for limit in limits),
        processes=sum(limit.processes for limit in limits),
    )
