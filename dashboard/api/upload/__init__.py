"""Uploads: from the wire to a stored row."""
