"""A measured figure and its required bar."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    what: str
    value: float
    unit: str = ""
    least: float | None = None
    most: float | None = None
    aim: str = ""
    detail: bool = False
    """Kept for a table of the docs and not printed, since a table of the run shows it."""

    @property
    def good(self) -> bool:
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    @property
    def bar(self) -> str:
        if self.least is not None:
            return f"at least {self.least:,g}"
        return f"at most {self.most:,g}" if self.most is not None else ""

    @property
    def measured(self) -> str:
        value = f"{self.value:,.0f}" if abs(self.value) >= 1_000 else f"{self.value:.3g}"
        return f"{value}{self.unit and ' ' + self.unit}"

    def __str__(self) -> str:
        judged = (
            f"  [{'ok' if self.good else 'MISSED'}: {self.bar}]" if self.bar else f"  ({self.aim})" if self.aim else ""
        )
        return f"{self.what}: {self.measured}{judged}"


def report(outcomes: list[Outcome]) -> int:
    missed = [outcome for outcome in outcomes if not outcome.good]
    print(f"\n{sum(not outcome.detail for outcome in outcomes)} figures, {len(missed)} bars missed")
    return 1 if missed else 0
