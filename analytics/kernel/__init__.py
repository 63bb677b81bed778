"""Statistics on arrays: numpy and scipy only."""
