"""The smallest part of a sequence that keeps a property (Zeller 2002)."""

from __future__ import annotations

from typing import Callable, Sequence, TypeVar

T = TypeVar("T")


def ddmin(items: Sequence[T], keeps: Callable[[list[T]], bool]) -> list[T]:
    """A part, in its order, that keeps the property and loses it without any single one of its items.

    The caller knows that the whole keeps it. Parts are asked once: what was seen to lose it is remembered."""
    parts = 2
    lost: set[tuple[int, ...]] = set()
    positions = list(range(len(items)))

    def asks(chosen: list[int]) -> bool:
        if tuple(chosen) in lost:
            return False
        if keeps([items[position] for position in chosen]):
            return True
        lost.add(tuple(chosen))
        return False

    while len(positions) > 1:
        pieces = _split(positions, parts)
        kept = next((piece for piece in pieces if asks(piece)), None)
        if kept is not None:
            positions, parts = kept, 2
            continue
        rests = [[position for position in positions if position not in piece] for piece in map(set, pieces)]
        kept = next((rest for rest in rests if asks(rest)), None) if parts > 2 else None
        if kept is not None:
            positions, parts = kept, max(parts - 1, 2)
        elif parts >= len(positions):
            break
        else:
            parts = min(2 * parts, len(positions))
    return [items[position] for position in positions]


def _split(positions: Sequence[int], parts: int) -> list[list[int]]:
    """As even as can be."""
    size, pieces, start = len(positions), [], 0
    for number in range(parts):
        end = start + (size - start) // (parts - number)
        pieces.append(list(positions[start:end]))
        start = end
    return [piece for piece in pieces if piece]
