"""`flakeboard waits`: the sleeps and timeouts of a test, how its failing share depends on them, and what is enough."""
