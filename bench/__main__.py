"""Run the benchmarks on a PostgreSQL of their own: `python -m bench [name …]`."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

HOME = Path(tempfile.mkdtemp(prefix="flakeboard-bench-"))
os.environ |= {"FLAKEBOARD_HOME": str(HOME), "DJANGO_SETTINGS_MODULE": "dashboard.settings", "LOG_LEVEL": "WARNING"}
os.environ.pop("DATABASE_URL", None)


def main() -> int:
    import django

    django.setup()
    from django.core.management import call_command

    from bench import accuracy, analysis, memory, pages, policy, processing, reader, storage
    from bench.outcome import report
    from dashboard.embedded import Cluster

    modules = (reader, processing, storage, memory, analysis, pages, accuracy, policy)
    benches = {module.__name__.rpartition(".")[2]: module for module in modules}
    wanted = sys.argv[1:] or list(benches)
    cluster = Cluster(HOME)
    cluster.start()
    try:
        call_command("migrate", verbosity=0)
        results = []
        for name in wanted:
            print(f"\n{name}", flush=True)
            for result in benches[name].run():
                print(f"  {result}", flush=True)
                results.append(result)
        return report(results)
    finally:
        cluster.stop()
        shutil.rmtree(HOME, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
