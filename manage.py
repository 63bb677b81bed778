#!/usr/bin/env python
"""Flakeboard's command line: `manage.py serve` runs it all, `manage.py help` lists the rest."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from dashboard.ops.environment import BadSetting

    try:
        if sys.argv[1:] == ["serve"]:
            # Past Django, which would load the whole application into the supervisor.
            from dashboard.ops.serve import serve

            serve()
        elif sys.argv[1:] == ["beat"]:
            from dashboard.ops.processes import become_beat

            become_beat()
        else:
            from django.core.management import execute_from_command_line

            execute_from_command_line(sys.argv)
    except BadSetting as error:
        sys.exit(f"flakeboard: {error}")


if __name__ == "__main__":
    main()
