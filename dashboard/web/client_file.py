"""The client as a single file: CI needs nothing but `curl` and `python3`."""

import hashlib
import io
import zipfile
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

NAME = "flakeboard.pyz"
CLIENT = Path(settings.BASE_DIR) / "client"
_SHEBANG = b"#!/usr/bin/env python3\n"
_MAIN = """import os
import sys

if sys.version_info < (3, 8):
    sys.stderr.write("flakeboard: warning: Python 3.8 or newer is needed, so the command runs without Flakeboard.\\n")
    if sys.argv[1:2] != ["run"] or "--" not in sys.argv:
        sys.exit(0)
    command = sys.argv[sys.argv.index("--") + 1 :]
    os.execvp(command[0], command)

from flakeboard.cli import main

sys.exit(main())
"""
"""An older Python cannot even read the client; it must not keep the tests from running."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


@require_safe
def client_file(request: HttpRequest) -> HttpResponse:
    """For anybody: it holds no secret, and a job fetches it before it has one."""
    content, etag = built()
    response = HttpResponse(content, content_type="application/zip", headers={"ETag": etag})
    response.headers["Cache-Control"] = "public, max-age=300"
    response.headers["Content-Disposition"] = f'attachment; filename="{NAME}"'
    return get_conditional_response(request, etag=etag, response=response)


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
