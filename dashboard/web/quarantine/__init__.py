"""Quarantines, the policy and owners."""
