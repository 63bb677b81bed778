"""Orders measured: formulas, squares, plans, real order-dependent tests, schedules, and verdicts of reruns."""

PARTS = ("formulas", "plans", "real_tests", "schedules", "reruns")
