"""Flakeboard's client: uploads test results from CI, asks the gate and records pytest runs. Standard library only."""

__version__ = "0.1.0"
