"""Static files, hashed and compressed into the home folder: again only when they have changed."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: found[0]):
            facts = Path(storage.path(path)).stat()
            digest.update(f"{path} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def collect() -> None:
    """Compressing takes seconds and a start should not: skipped where nothing is new."""
    marker, now = Path(settings.STATIC_ROOT) / ".fingerprint", _fingerprint()
    if not marker.exists() or marker.read_text() != now:
        call_command("collectstatic", verbosity=0, interactive=False, clear=True)
        marker.write_text(now)
