"""A whole project as a file that other programs read."""
