"""What outlives the window of an analysis: how runs ended day by day, and since when to when tests were flaky."""
