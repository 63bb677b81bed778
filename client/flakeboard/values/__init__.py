"""Values of approximate assertions: what a test compared, with which bound, whether it passed or failed."""
