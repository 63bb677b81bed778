"""Many at once: jobs in threads that start together, each with a database connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """What each job returned or raised, in the order in which they were given."""
    start, results = threading.Barrier(len(jobs)), [None] * len(jobs)

    def run(place: int) -> None:
        try:
            start.wait()
            results[place] = jobs[place]()
        except Exception as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
