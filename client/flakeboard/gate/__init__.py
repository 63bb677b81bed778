"""Asking the gate whether a red build may pass, and showing its decision."""
