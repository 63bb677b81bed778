"""How much is compared at once."""

MOST_EVENTS = 4_000_000
"""Events of all traces together: 200 executions of 20,000."""
MOST_CALLS = 60_000
"""Different calls, those that most executions made: the others are in too few to tell executions apart."""
