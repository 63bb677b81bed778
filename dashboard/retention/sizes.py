"""How much of the disk a project's data takes, by kind."""

from dataclasses import dataclass

from django.db import OperationalError, connection, transaction

from ingest.models import Project

_SECONDS = 5
_QUERIES = {
    "uploads": """
        SELECT sum(pg_column_size(chunk.content)) FROM ingest_uploadchunk AS chunk
        JOIN ingest_upload AS upload ON upload.id = chunk.upload_id WHERE upload.project_id = %s
    """,
    "texts": """
        SELECT sum(pg_column_size(message) + pg_column_size(text) + pg_column_size(system_out)
                   + pg_column_size(system_err))
        FROM ingest_failure AS failure JOIN ingest_report AS report ON report.id = failure.report_id
        WHERE report.project_id = %s
    """,
    "reports": """
        SELECT sum(pg_column_size(verdicts) + pg_column_size(durations) + coalesce(pg_column_size("order"), 0))
        FROM ingest_report WHERE project_id = %s
    """,
    "traces": """
        WITH project AS (SELECT %s::bigint AS id)
        SELECT sum(size) FROM (
            SELECT pg_column_size(content) AS size FROM ingest_trace, project WHERE project_id = project.id
            UNION ALL SELECT pg_column_size(data) FROM ingest_reach, project WHERE project_id = project.id
            UNION ALL SELECT pg_column_size(members) FROM ingest_reachset, project WHERE project_id = project.id
        ) AS kept
    """,
    "attachments": """
        SELECT sum(size) FROM ingest_attachment WHERE project_id = %s
    """,
    "analyses": """
        SELECT sum(pg_column_size(columns) + pg_column_size(summary)) FROM analytics_analysis WHERE project_id = %s
    """,
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes as they are stored; None where counting would take too long."""

    uploads: int | None
    texts: int | None
    reports: int | None
    traces: int | None
    attachments: int | None
    analyses: int | None


def sizes_of(project: Project) -> Sizes:
    return Sizes(**{kind: _counted(query, project.pk) for kind, query in _QUERIES.items()})


def _counted(query: str, project_id: int) -> int | None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{_SECONDS}s'")
            cursor.execute(query, [project_id])
            counted = cursor.fetchone()[0]
            cursor.execute("SET LOCAL statement_timeout = DEFAULT")
            return int(counted or 0)
    except OperationalError:  # the time is over
        return None
