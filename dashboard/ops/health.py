"""Is it alive, is it ready? For orchestrators and proxies: no sign-in, nothing secret, nothing slow."""

import logging

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import resolve
from django.views.decorators.http import require_safe

from dashboard.ops import broker_state
from dashboard.ops.logs import Handler

logger = logging.getLogger(__name__)
PROBES = ("/health/live", "/health/ready", "/metrics")
_OK = "ok"


def probes_first(get_response: Handler) -> Handler:
    """Answer probes before anything else looks at the request: they come by the machine's address, not by its name."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path in PROBES:
            return resolve(request.path).func(request)
        return get_response(request)

    return middleware


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The process answers. It says nothing of what it depends on: a restart would not mend that."""
    return _answer({"status": _OK}, ready=True)


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Whether requests can be served. Without the broker they can: the sweep finds every upload, a little later."""
    database = _database()
    migrations = _migrations() if database == _OK else "unknown"
    broker = _OK if broker_state.reachable() else "degraded: sweep only"
    parts = {"database": database, "migrations": migrations, "broker": broker}
    fit = database == migrations == _OK
    status = "not ready" if not fit else _OK if broker == _OK else "degraded"
    return _answer({"status": status, "parts": parts}, ready=fit)


def _answer(content: dict[str, object], *, ready: bool) -> JsonResponse:
    response = JsonResponse(content, status=200 if ready else 503)
    response.headers["Cache-Control"] = "no-store"
    if not ready:
        response.headers["Retry-After"] = "5"
    return response


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        logger.warning("the database cannot be reached: %s", str(error).strip().partition("\n")[0])
        connection.close()
        return "unreachable"
    return _OK


def _migrations() -> str:
    waiting = 0 if _Migrated.known else len(pending_migrations())
    _Migrated.known = not waiting
    return f"{waiting} to apply" if waiting else _OK


class _Migrated:
    """Tables that are up to date stay so while this process lives: its code does not change."""

    known = False


def pending_migrations() -> list[str]:
    """Those that this code has and the database has not."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
