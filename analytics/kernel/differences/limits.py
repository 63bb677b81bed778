"""How much is compared at once."""

MOST_EVENTS = 500_000
"""Events of all traces together: so many take some 600 MB."""
