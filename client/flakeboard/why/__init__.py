"""`flakeboard why`: a test is run until it fails, its runs are compared, and what differs is held and forced."""
