"""The reader: bytes in, ParsedReport out. Pure Python and lxml; it knows nothing of Django or the store."""
