"""Default prices of flakiness until a project sets its own: Herzig's figures for Microsoft, as quoted by Lam
(dissertation, 2021, chapter 7)."""

FAILURE = 9.60
"""For a failure that somebody inspects."""
MACHINE_MINUTE = 0.03
CURRENCY = "USD"
LONGEST_CURRENCY = 12
