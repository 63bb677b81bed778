"""Settings. Everything that differs between machines comes from the environment; docs/running.md lists it."""

from dataclasses import fields
from pathlib import Path

import dj_database_url

from dashboard import environment, home
from ingest.junit.limits import Limits

BASE_DIR = Path(__file__).resolve().parent.parent
HOME = home.directory(environment.text("FLAKEBOARD_HOME", str(BASE_DIR / "var")))

# -- where it listens and who may ask ---------------------------------------------------------------------------

BIND = environment.text("BIND", "127.0.0.1")
PORT = environment.number("PORT", 8000, least=1, most=65_535)
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]", BIND])
PUBLIC_URL = environment.url("PUBLIC_URL", ("http", "https")).rstrip("/") or f"http://localhost:{PORT}"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
DEBUG = environment.flag("DEBUG", False)
SECRET_KEY = environment.text("SECRET_KEY", "") or home.secret_key(HOME)
TLS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TLS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# -- database and broker ----------------------------------------------------------------------------------------

DATABASE_URL = environment.url("DATABASE_URL", ("postgres", "postgresql"))
EMBEDDED = not DATABASE_URL
if EMBEDDED:
    _database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "flakeboard",
        "USER": "flakeboard",
        "HOST": str(home.socket_directory(HOME)),
    }
else:
    try:
        _database = dict(dj_database_url.parse(DATABASE_URL))
    except ValueError as error:
        raise environment.BadSetting(f"DATABASE_URL cannot be read: {error}.") from error
DATABASES = {
    "default": {
        **_database,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": 5, **_database.get("OPTIONS", {})},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

BROKER_URL = (
    environment.url("BROKER_URL", ("redis", "rediss", "amqp", "amqps", "filesystem")) or "filesystem://localhost//"
)
_broker_folder = str(HOME / "broker")
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "data_folder_in": _broker_folder,
        "data_folder_out": _broker_folder,
        "control_folder": str(HOME / "broker" / "control"),
        "polling_interval": 0.1,
    }
    if BROKER_URL.startswith("filesystem")
    else {"visibility_timeout": 300}
    if BROKER_URL.startswith("redis")
    else {}
)
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_TIME_LIMIT = environment.number("TASK_SECONDS", 900, least=10)
CELERY_WORKER_MAX_MEMORY_PER_CHILD = environment.number("WORKER_MEMORY_KB", 1_500_000, least=200_000)
CELERY_BEAT_SCHEDULE_FILENAME = str(HOME / "beat-schedule")
SWEEP_SECONDS = environment.number("SWEEP_SECONDS", 15, least=1, most=3_600)
CELERY_BEAT_SCHEDULE = {
    # A sweep that nobody took before the next one was due is of no more use: they must not pile up.
    "sweep": {"task": "uploads.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "analyses": {"task": "analyses.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "quarantines": {"task": "quarantines.expire", "schedule": 60, "options": {"expires": 60}},
}
WORKER_CONCURRENCY = environment.number("WORKER_CONCURRENCY", 2, least=1, most=256)
WEB_CONCURRENCY = environment.number("WEB_CONCURRENCY", 2, least=1, most=256)
WEB_THREADS = environment.number("WEB_THREADS", 16, least=1, most=1_024)

# -- analyses ---------------------------------------------------------------------------------------------------

ANALYSIS_DELAY_SECONDS = environment.number("ANALYSIS_DELAY_SECONDS", 60, least=0, most=86_400)
DEVELOPER_MINUTES = environment.number("DEVELOPER_MINUTES", 15, least=0, most=10_000)
ANALYSIS_LEASE_SECONDS = environment.number("ANALYSIS_LEASE_SECONDS", 900, least=10, most=86_400)

# -- uploads ----------------------------------------------------------------------------------------------------

LIMITS = Limits(
    **{
        field.name: environment.number(f"LIMIT_{field.name.upper()}", field.default, least=1)
        for field in fields(Limits)
    }
)
UPLOAD_TRIES = environment.number("UPLOAD_TRIES", 5, least=1, most=100)
"""How often a worker may die over one upload before it is set aside as failed."""
UPLOAD_LEASE_SECONDS = environment.number("UPLOAD_LEASE_SECONDS", 45, least=2, most=3_600)
"""How long a claim holds without a sign of life."""
UPLOADS_PER_MINUTE = environment.number("UPLOADS_PER_MINUTE", 600, least=1)
"""Uploads that one token may send in a minute."""
WAIT_SECONDS = environment.number("WAIT_SECONDS", 60, least=1, most=600)
"""The longest that `?wait=` may hold a request."""
DATA_UPLOAD_MAX_NUMBER_FILES = LIMITS.files
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# -- Django -----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "ingest",
    "analytics",
    "dashboard",
    "dashboard.quarantine",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dashboard.middleware.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "dashboard.middleware.database_unavailable",
]
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_THOUSAND_SEPARATOR = True

STATIC_URL = "static/"
STATIC_ROOT = HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "dashboard.static_files.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "dashboard.api.paging.NewestFirst",
    "EXCEPTION_HANDLER": "dashboard.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Flakeboard API",
    "DESCRIPTION": "Send test results, and ask what they mean. Every call needs a project's token.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "UploadStateEnum": "ingest.models.Upload.State",
        "TestStateEnum": "dashboard.api.row_serializers.STATES",
        "QuarantineStateEnum": "dashboard.api.quarantines_serializers.STATES",
        "QuarantineBeginningEnum": "dashboard.api.quarantines_serializers.BEGINNINGS",
        "QuarantineModeEnum": "dashboard.api.quarantines_serializers.MODES",
        "QuarantineActionEnum": "dashboard.api.quarantines_serializers.ACTIONS",
        "PolicyModeEnum": "dashboard.api.policy_serializers.POLICY_MODES",
    },
}

_log_level = environment.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": _log_level},
}
