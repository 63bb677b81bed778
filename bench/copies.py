"""Enlarges a project by copying its reports inside the database: for size, not for content."""

from datetime import timedelta

from django.db import connection

from ingest.models import Project, Report, Run


def reports_copy(project: Project, *, copies: int, apart: timedelta) -> None:
    """Make `copies` copies of each run with its report and failures, each older than the previous one by `apart`.

    Build ids of the runs must not contain a dash, which marks copies."""
    with connection.cursor() as cursor:
        for statement in (_COPY_RUNS, _COPY_REPORTS, _COPY_FAILURES):
            cursor.execute(statement, {"project": project.pk, "copies": copies, "apart": apart})
        cursor.execute("VACUUM (ANALYZE)")


def _columns(model: type[Run | Report], *apart: str) -> tuple[str, str]:
    """The columns that a copy takes over: their names, and their expressions in terms of `original`."""
    names = [field.column for field in model._meta.fields if field.column not in ("id", *apart)]
    return ", ".join(f'"{name}"' for name in names), ", ".join(f'original."{name}"' for name in names)


_RUN, _RUN_TAKEN = _columns(Run, "key", "started_at", "placed_at", "received_at", "build_id")
_REPORT, _REPORT_TAKEN = _columns(
    Report, "run_id", "upload_id", "started_at", "placed_at", "kept_from", "content_digest"
)
_COPY_RUNS = f"""
    INSERT INTO ingest_run (key, started_at, placed_at, received_at, build_id, {_RUN})
    SELECT substring(sha256((original.id || '-' || copy)::bytea) FOR 16),
           original.started_at - copy * %(apart)s, original.placed_at - copy * %(apart)s,
           original.placed_at - copy * %(apart)s, original.id || '-' || copy, {_RUN_TAKEN}
    FROM ingest_run AS original, generate_series(1, %(copies)s) AS copy WHERE original.project_id = %(project)s
"""
_COPY_REPORTS = f"""
    INSERT INTO ingest_report (run_id, started_at, placed_at, kept_from, content_digest, {_REPORT})
    SELECT twin.id, twin.started_at, twin.placed_at, twin.received_at, sha256(twin.key), {_REPORT_TAKEN}
    FROM ingest_report AS original
    JOIN ingest_run AS twin
        ON split_part(twin.build_id, '-', 1) = original.run_id::text AND twin.project_id = %(project)s
    WHERE original.project_id = %(project)s AND twin.build_id LIKE '%%-%%'
"""
_COPY_FAILURES = """
    INSERT INTO ingest_failure (report_id, test_id, ordinal, part, verdict, type, message, text, system_out, system_err,
                                signature_id)
    SELECT report.id, failure.test_id, failure.ordinal, failure.part, failure.verdict, failure.type, failure.message,
           failure.text, '', '', failure.signature_id
    FROM ingest_report AS report
    JOIN ingest_run AS twin ON twin.id = report.run_id AND twin.build_id LIKE '%%-%%'
    JOIN ingest_report AS first ON first.run_id::text = split_part(twin.build_id, '-', 1)
    JOIN ingest_failure AS failure ON failure.report_id = first.id
    WHERE report.project_id = %(project)s
"""
