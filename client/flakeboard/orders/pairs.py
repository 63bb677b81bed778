"""Ordered pairs of tests as bits: which were seen, which are wanted."""

from __future__ import annotations

from typing import Collection, Iterator, Sequence

MOST_TESTS = 5_000
"""Above it all pairs would be more than 25 million bits, and no plan of that many orders would ever be run."""


class Pairs:
    """A set of pairs ⟨a, b⟩ of n tests; `rows[a]` has bit b."""

    __slots__ = ("n", "rows")

    def __init__(self, n: int, rows: list[int] | None = None) -> None:
        self.n = n
        self.rows = [0] * n if rows is None else rows

    @classmethod
    def every(cls, n: int) -> Pairs:
        whole = (1 << n) - 1
        return cls(n, [whole ^ (1 << test) for test in range(n)])

    @classmethod
    def of_orders(cls, n: int, orders: Sequence[Sequence[int]]) -> Pairs:
        pairs = cls(n)
        for order in orders:
            pairs.add_order(order)
        return pairs

    @classmethod
    def from_bytes(cls, n: int, data: bytes) -> Pairs:
        """What `to_bytes` wrote; other lengths are refused, since they belong to another roster."""
        width = (n + 7) // 8
        if len(data) != n * width:
            raise ValueError(f"{len(data)} bytes are no pairs of {n} tests")
        whole = (1 << n) - 1
        return cls(
            n, [int.from_bytes(data[at : at + width], "little") & whole for at in range(0, n * width, width or 1)]
        )

    def to_bytes(self) -> bytes:
        width = (self.n + 7) // 8
        return b"".join(row.to_bytes(width, "little") for row in self.rows)

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return bool(self.rows[pair[0]] >> pair[1] & 1)

    def __len__(self) -> int:
        return sum(map(bits_in, self.rows))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for first, row in enumerate(self.rows):
            for second in bits_of(row):
                yield first, second

    def add(self, first: int, second: int) -> None:
        self.rows[first] |= 1 << second

    def discard(self, first: int, second: int) -> None:
        self.rows[first] &= ~(1 << second)

    def add_order(self, order: Sequence[int], passed: Collection[int] | None = None) -> None:
        """The neighbours of an order; with `passed`, only those whose second test passed: they are seen clean."""
        for first, second in zip(order, order[1:]):
            if passed is None or second in passed:
                self.rows[first] |= 1 << second

    def discard_test(self, test: int) -> None:
        """All pairs of a test whose file changed: what was seen of it says nothing any more."""
        self.rows[test] = 0
        keep = ~(1 << test)
        self.rows = [row & keep for row in self.rows]

    def without(self, other: Pairs) -> Pairs:
        return Pairs(self.n, [row & ~seen for row, seen in zip(self.rows, other.rows)])

    def transposed(self) -> Pairs:
        columns = Pairs(self.n)
        for first, second in self:
            columns.add(second, first)
        return columns


def bits_in(row: int) -> int:
    return bin(row).count("1")


def bits_of(row: int) -> Iterator[int]:
    """Positions of the bits that are set, in rising order."""
    text = bin(row)[:1:-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)
