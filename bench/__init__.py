"""Benchmarks, each against a peer or a baseline in the same run, as ratios. `make bench` runs them all."""
