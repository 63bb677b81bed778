"""What the results mean."""
