"""What an experiment found out about a test."""

from __future__ import annotations

from dataclasses import dataclass, field

OD, NOD, ID, INFRASTRUCTURE, UNKNOWN = "OD", "NOD", "ID", "infrastructure", "unknown"
VICTIM, BRITTLE = "victim", "brittle"
POLLUTER, SETTER = "polluter", "state-setter"


@dataclass
class Group:
    """Tests that, run in this order before it, make a victim fail or a brittle test pass; mostly a single one."""

    role: str
    tests: tuple[int, ...]
    cleaners: list[int] = field(default_factory=list)
    shown: int = 0
    """Runs in which the last test ended as the role says, of those that verified it."""
    of: int = 0

    @property
    def is_shown(self) -> bool:
        return self.of > 0 and self.shown == self.of


@dataclass
class Finding:
    test: int
    kind: str
    order: tuple[int, ...] = ()
    """The order, up to and with the test, in which it failed."""
    why: str = ""
    """For a test that is not order-dependent: what showed it, with its counts."""
    role: str = ""
    alone: tuple[int, int] = (0, 0)
    """How often it passed alone, and of how many runs."""
    groups: list[Group] = field(default_factory=list)
    after_failure: bool = False
    """Another test failed before it in that order."""
    usual: bool = True
    """A runner could come to such an order: units are not torn apart."""
    only_whole: bool = False
    """The minimal order shows it only while the whole suite is collected."""
    hash_seed: int | None = None
    state: list[str] = field(default_factory=list)
    fixture: str = ""
    is_complete: bool = False
    """All partners and cleaners were looked for."""
    notes: list[str] = field(default_factory=list)
    """What could not be found out, and why."""
    others: list[tuple[int, ...]] = field(default_factory=list)
    """Further orders, up to and with the test, in which it failed."""

    def becomes_nod(self, why: str) -> None:
        """For ever: what was thought of it before is dropped."""
        self.kind, self.why, self.role, self.groups, self.state, self.fixture = NOD, why, "", [], [], ""

    @property
    def minimal_order(self) -> tuple[int, ...]:
        """The shortest order known in which it fails."""
        if self.role == BRITTLE:
            return (self.test,)
        if self.groups:
            return (*self.groups[0].tests, self.test)
        return self.order
