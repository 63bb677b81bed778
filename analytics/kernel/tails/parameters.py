"""The thresholds of tails, each with its source."""

LEAST_VALUES = 100
"""Fewer values are not enough data: the tail would be fitted to fewer than 40 of them."""
CONFIDENCE = 0.95
"""A proposed bound keeps its promise in this share of cases."""
TOLERATED = 0.001
"""Failures of a run that a proposed bound allows where nothing else is asked for."""
BEYOND_RUNS = 10
"""No claim about what happens more seldom than once in so many times the runs that were made."""
EXCEEDANCES = 50
LEAST_EXCEEDANCES = 40
TAIL_PARTS = (10, 20)
"""The tail is the largest tenth of the values, else the largest twentieth, but at least 50 and no fewer than 40."""
REFITS = 1_000
"""Samples drawn from the fit, each fitted again."""
BOUNDED_SHAPE = -0.5
"""Below it the density does not fall to 0 at its end: there is an end, and it is near (uniform has -1)."""
HEAVY_SHAPE = 0.25
"""Above it fourth moments do not exist."""
BOUNDLESS_SHAPE = 0.5
"""Above it there is no variance: a heavy tail that no transformation makes light enough for a bound to be of use."""
FARTHEST = 10.0
"""A bound so many times as far from the median as the farthest value is of no use: it lets nearly everything pass."""
SHAPES = (-0.50, -0.25, 0.00, 0.25, 0.50)
CRITICAL = (1.06, 1.01, 0.97, 0.87, 0.79)
"""A fit is accepted if Anderson and Darling's A2 is at most this, by shape: the 5 % points of 2,000 simulated samples
of 100 values each, fitted as here."""
SAME = 1e-12
"""Values that differ by less, compared with the largest of them and with the bound, are the same."""
FEW_DISTINCT = 20
GRID_SHARE = 0.2
"""Fewer distinct values, or a smaller share of them on a grid, are discrete."""
COUNTED = 10
"""With so many values beyond the present bound their share says more than a fit does."""
CHANGED = 0.01
"""Two halves of a series differ if Kolmogorov and Smirnov's test says so at this level."""
WARNED_GROWTH = 10.0
"""A tolerance that grows more than this hides a defect more likely than chance."""
