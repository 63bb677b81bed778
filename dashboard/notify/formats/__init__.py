"""A message in the format that each receiver takes."""
