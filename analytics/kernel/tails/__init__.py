"""Bounds of tests of random algorithms: how often an assertion's bound fails, and which bound fails seldom enough.

Values of one assertion are a sample; its right tail is fitted by a generalized Pareto distribution, and what is said of
it are confidence limits and no point estimates. See docs/concepts.md#bounds."""
