"""Quarantines, the gate, the policy and owners."""
