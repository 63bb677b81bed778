"""The client as a single file: CI needs nothing but `curl` and `python3`."""

import hashlib
import io
import zipfile
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.api.etags import is_known

NAME = "flakeboard.pyz"
CLIENT = Path(settings.BASE_DIR) / "client"
_SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = "import sys\n\nfrom flakeboard.cli import main\n\nsys.exit(main())\n"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


@require_safe
def client_file(request: HttpRequest) -> HttpResponse:
    """For anybody: it holds no secret, and a job fetches it before it has one."""
    content, etag = built()
    response = (
        HttpResponse(status=304) if is_known(request, etag) else HttpResponse(content, content_type="application/zip")
    )
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "public, max-age=300"
    response.headers["Content-Disposition"] = f'attachment; filename="{NAME}"'
    return response


@require_safe
def client_digest(request: HttpRequest) -> HttpResponse:
    """What `sha256sum -c` reads beside the file."""
    response = HttpResponse(f"{digest()}  {NAME}\n", content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


@lru_cache(maxsize=1)
def built() -> tuple[bytes, str]:
    """The file and its ETag, made once: sources do not change while a process runs."""
    content = build(CLIENT)
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def digest() -> str:
    """The SHA-256 of the file."""
    return hashlib.sha256(built()[0]).hexdigest()


def build(folder: Path) -> bytes:
    """A zip that Python runs: the same bytes for the same sources, whoever builds it and when."""
    sources = {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "flakeboard").rglob("*.py")}
    packed = io.BytesIO()
    packed.write(_SHEBANG)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted({**sources, "__main__.py": _MAIN.encode()}.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, content)
    return packed.getvalue()
