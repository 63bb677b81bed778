"""The parts of the simulator: `analytics.simulate` is its entry."""
