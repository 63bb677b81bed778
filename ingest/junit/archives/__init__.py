"""From an upload's bytes to its files: compression, zip and tar, by content and never by name."""
