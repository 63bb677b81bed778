"""Formats other than JUnit XML, each turned into the same rows. Pure: no Django."""
