"""The reader: bytes in, ParsedReport out. Pure Python and lxml, independent of Django and the database."""
