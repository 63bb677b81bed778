"""Can this database be used? Asked once at the start of each process, and answered by one line where it cannot."""

import warnings

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, NotSupportedError, connection

from dashboard.ops.environment import BadSetting

OLDEST = 15
"""The oldest PostgreSQL that we test with."""
_NAME = "embedded database" if settings.EMBEDDED else "database of DATABASE_URL"


def check(*, connections: int = 1, migrated: bool = False) -> None:
    """Reachable, new enough, open to so many of us; and, where asked, with the tables that this code needs."""
    try:
        connection.ensure_connection()
        if connection.pg_version // 10_000 < OLDEST:
            raise NotSupportedError(f"it is PostgreSQL {connection.pg_version // 10_000}")
        most = _connections_allowed()
        pending = _pending_migrations() if migrated else []
    except NotSupportedError as error:
        raise BadSetting(
            f"The {_NAME} is too old: PostgreSQL {OLDEST} or newer is needed ({first_line(error)})."
        ) from error
    except (Error, ImproperlyConfigured) as error:
        raise BadSetting(f"The {_NAME} cannot be used: {first_line(error)}") from error
    if connections > most:
        raise BadSetting(
            f"The {_NAME} allows {most} connections and this process may open {connections}: "
            "raise its max_connections, or lower WEB_CONCURRENCY or WEB_THREADS."
        )
    if pending:
        raise BadSetting(f"The {_NAME} lacks {len(pending)} migrations, first {pending[0]}: run manage.py upgrade.")


def _pending_migrations() -> list[str]:
    from dashboard.ops.health import pending_migrations  # it needs Django's applications, and the rest does not

    return pending_migrations()


def _connections_allowed() -> int:
    """What the server, the database and the role leave to us; a limit of -1 is none."""
    with warnings.catch_warnings(), connection.cursor() as cursor:
        # Django warns of queries before its applications are loaded. This one asks nothing of them, and is meant.
        warnings.filterwarnings("ignore", "Accessing the database during app initialization", RuntimeWarning)
        cursor.execute(
            "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int, "
            "(SELECT datconnlimit FROM pg_database WHERE datname = current_database()), "
            "(SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user)"
        )
        limits = cursor.fetchone()
    return min(limit for limit in limits if limit >= 0)


def web_connections() -> int:
    """Each thread of each web process keeps one."""
    return settings.WEB_CONCURRENCY * settings.WEB_THREADS


def first_line(error: Exception) -> str:
    """What PostgreSQL says first; after it come hints, and the same for other addresses of the host."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
