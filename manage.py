#!/usr/bin/env python
"""Flakeboard's command line: `manage.py serve` runs it all, `manage.py help` lists the rest."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.management import execute_from_command_line

    from dashboard.environment import BadSetting

    try:
        execute_from_command_line(sys.argv)
    except BadSetting as error:
        sys.exit(f"flakeboard: {error}")


if __name__ == "__main__":
    main()
