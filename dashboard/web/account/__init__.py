"""People and their accounts."""
