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

    @property
    def good(self) -> bool:
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def __str__(self) -> str:
        bar = (
            f"at least {self.least:g}"
            if self.least is not None
            else f"at most {self.most:g}"
            if self.most is not None
            else ""
        )
        judged = f"  [{'ok' if self.good else 'MISSED'}: {bar}]" if bar else f"  ({self.aim})" if self.aim else ""
        value = f"{self.value:,.0f}" if abs(self.value) >= 1_000 else f"{self.value:.3g}"
        return f"{self.what}: {value}{self.unit and ' ' + self.unit}{judged}"


def report(outcomes: list[Outcome]) -> int:
    missed = [outcome for outcome in outcomes if not outcome.good]
    print(f"\n{len(outcomes)} figures, {len(missed)} bars missed")
    return 1 if missed else 0
