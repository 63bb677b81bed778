"""Entry point of `python -m flakeboard`."""

import sys

from flakeboard.cli import main

if __name__ == "__main__":
    sys.exit(main())
