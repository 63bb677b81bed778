"""The client to fetch: a single file, for which CI needs nothing but `curl` and `python3`, and a wheel for pip."""

import hashlib
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from dashboard.web import client_build

NAME = "flakeboard.pyz"
CLIENT = Path(settings.BASE_DIR) / "client"
WHEEL = client_build.wheel_name(CLIENT)


@require_safe
def client_file(request: HttpRequest) -> HttpResponse:
    """For anybody: it holds no secret, and a job fetches it before it has one."""
    return _answer(request, NAME, built(NAME))


@require_safe
def client_wheel(request: HttpRequest) -> HttpResponse:
    """The same client for `pip install`; its name must hold the version."""
    return _answer(request, WHEEL, built(WHEEL))


@require_safe
def client_index(request: HttpRequest) -> HttpResponse:
    """What `pip install --find-links` reads, so that a job need not know the version."""
    link = f'<a href="{WHEEL}#sha256={hashlib.sha256(built(WHEEL)).hexdigest()}">{WHEEL}</a>'
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><title>Flakeboard\'s client</title></head><body>{link}</body></html>\n'
    )
    response = HttpResponse(page, content_type="text/html; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


def _answer(request: HttpRequest, name: str, content: bytes) -> HttpResponse:
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    response = HttpResponse(content, content_type="application/zip", headers={"ETag": etag})
    response.headers["Cache-Control"] = "public, max-age=300"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return get_conditional_response(request, etag=etag, response=response)


@require_safe
def client_digest(request: HttpRequest) -> HttpResponse:
    """What `sha256sum -c` reads beside the file."""
    response = HttpResponse(f"{digest()}  {NAME}\n", content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


@lru_cache(maxsize=2)
def built(name: str) -> bytes:
    """The file of this name, made once: sources do not change while a process runs."""
    return client_build.wheel(CLIENT) if name == WHEEL else client_build.single_file(CLIENT)


def digest() -> str:
    """The SHA-256 of the single file."""
    return hashlib.sha256(built(NAME)).hexdigest()
