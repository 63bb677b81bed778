"""Reruns in fresh environments (Gruber 2021)."""
