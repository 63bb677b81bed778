"""Make database.sql.gz again: what a small installation of this very code has in its database.

Run it when a release is made, from the release's own checkout: python tests/data/release/make.py
Then put the last migration of each app into dashboard/released_migrations.txt."""

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TOKEN = "flk_upload_0123456789ABCDEFGHIJKLMNOPQRST"
"""Without its checksum, which is added: a token of this database and of no other."""


def fill() -> str:
    """A user, a project with a history, its analysis, and a token, whose text is returned."""
    from django.contrib.auth.models import User

    from analytics.services import analysis_refresh
    from analytics.simulation import Settings, simulate
    from ingest import tokens
    from ingest.metadata import RunMetadata
    from ingest.models import Token
    from ingest.processing import upload_process
    from ingest.services import project_create, upload_receive
    from tests.conftest import body_of

    User.objects.create_superuser("admin", password="a long password")
    project = project_create(slug="my-project", name="My project")
    text = TOKEN + tokens._checksum(TOKEN)
    Token.objects.create(project=project, name="ci", scope="upload", digest=tokens.token_digest(text), hint=text[:18])
    made = simulate(Settings(seed=11, tests=70, suites=4, days=8, commits_a_day=3, regressions=1, renames=0, new_tests=1))
    for upload in made.uploads():
        metadata = RunMetadata.from_json(upload.metadata)
        body = body_of(*upload.files)
        row, _ = upload_receive(project=project, body=body, metadata=metadata, stated_at=metadata.started_at)
        upload_process(upload_id=row.pk)
    analysis_refresh(project=project)
    return text


def main() -> None:
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"FLAKEBOARD_HOME": folder, "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
        import django
        from django.core.management import call_command

        from dashboard.embedded import Cluster, _binaries

        django.setup()
        cluster = Cluster(Path(folder))
        cluster.start()
        try:
            call_command("migrate", verbosity=0)
            print(fill())
            options = ["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", "--restrict-key=release"]
            dump = [str(_binaries() / "pg_dump"), "-h", str(cluster.socket), "-U", "flakeboard", *options, "flakeboard"]
            written = subprocess.run(dump, capture_output=True, check=True).stdout
        finally:
            cluster.stop()
    kept = b"\n".join(line for line in written.splitlines() if not line.startswith((b"\\", b"--", b"SET ")))
    with (HERE / "database.sql.gz").open("wb") as file:
        file.write(gzip.compress(kept, 9, mtime=0))


if __name__ == "__main__":
    main()
