"""Who owns which test."""
