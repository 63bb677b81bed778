"""Recording what a test does while it runs: calls to sources of non-determinism, the functions it reaches, run facts.

Standard library only, on every Python from 3.8 up; pytest is known to `flakeboard.plugin` alone."""
