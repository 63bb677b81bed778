"""What tests used, and what a run changed: read from what CI sends, and kept."""
