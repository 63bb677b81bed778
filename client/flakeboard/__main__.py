"""`python -m flakeboard`, and the entry of the single file."""

import sys

from flakeboard.cli import main

if __name__ == "__main__":
    sys.exit(main())
