"""Settings. Everything that differs between machines comes from the environment; docs/running.md lists it."""

import sys
from dataclasses import fields
from pathlib import Path

import dj_database_url

from analytics.kernel.parameters import DEFAULTS
from dashboard.ops import environment, logs, paths
from dashboard.ops.queues import QueueLimits
from dashboard.retention import ages
from ingest.attachments.limits import AttachmentLimits
from ingest.junit.limits import Limits

BASE_DIR = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BASE_DIR / "client"))
"""`flakeboard.orders`, `traces` and `differences` are shared with the client: one implementation of each."""
from flakeboard.reach.limits import ReachLimits  # noqa: E402 - found by the path above
from flakeboard.traces.limits import Limits as TraceLimits  # noqa: E402

HOME = paths.directory(environment.text("FLAKEBOARD_HOME", str(BASE_DIR / "var")))

# -- where it listens and who may ask ---------------------------------------------------------------------------

BIND = environment.text("BIND", "127.0.0.1")
PORT = environment.number("PORT", 8000, least=1, most=65_535)
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]", BIND])
PUBLIC_URL = environment.url("PUBLIC_URL", ("http", "https")).rstrip("/") or f"http://localhost:{PORT}"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
DEBUG = environment.flag("DEBUG", False)
SECRET_KEY = environment.text("SECRET_KEY", "") or paths.secret_key(HOME)
TLS = PUBLIC_URL.startswith("https://")
PROXIES = environment.number("PROXIES", 0, most=10)
"""Proxies of ours in front: so many entries of X-Forwarded-For, from its end, are believed."""
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = TLS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
if TLS:  # the prefix makes browsers refuse such a cookie from a neighbour in the domain
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TLS else None
SECURE_HSTS_SECONDS = environment.number("HSTS_SECONDS", 31_536_000) if TLS else 0
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
"""HSTS for other names of the domain, and browsers' lists of it: that is for whoever owns the domain to say."""
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# -- people -----------------------------------------------------------------------------------------------------

SIGN_INS_PER_ADDRESS = environment.number("SIGN_INS_PER_ADDRESS", 20, least=1)
SIGN_INS_PER_ACCOUNT = environment.number("SIGN_INS_PER_ACCOUNT", 20, least=1)
"""Failed sign-ins in a quarter of an hour, before the next is refused; those that succeed don't count."""
OIDC_ISSUER = environment.url("OIDC_ISSUER", ("https", "http")).rstrip("/")
OIDC_CLIENT_ID = environment.text("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = environment.text("OIDC_CLIENT_SECRET", "")
OIDC_NAME = environment.text("OIDC_NAME", "single sign-on")
OIDC_SCOPES = environment.text("OIDC_SCOPES", "openid profile email")
OIDC_GROUPS_CLAIM = environment.text("OIDC_GROUPS_CLAIM", "groups")
OIDC_GROUP_ROLES = environment.words("OIDC_GROUP_ROLES", [])
"""`group=project:role` for a role in a project, `group=*` for who administers the instance."""
if OIDC_ISSUER and not (OIDC_CLIENT_ID and OIDC_CLIENT_SECRET):
    raise environment.BadSetting("OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET beside it.")
OIDC_CI_ISSUERS = environment.words(
    "OIDC_CI_ISSUERS", ["https://token.actions.githubusercontent.com", "https://gitlab.com"]
)
"""Who may sign the ID tokens of CI jobs, each as its tokens call it."""
OIDC_CI_KEYS = environment.text("OIDC_CI_KEYS", "")
"""A file with the keys of issuers that cannot be asked from here."""
FORK_EXCUSES = environment.number("FORK_EXCUSES", 5, least=0, most=1_000_000)
"""So many failures of one upload of a fork may be excused by quarantines."""
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
PASSWORD_RESET_TIMEOUT = 86_400
SESSION_COOKIE_AGE = environment.number("SESSION_SECONDS", 1_209_600, least=300)

# -- database and broker ----------------------------------------------------------------------------------------

DATABASE_URL = environment.url("DATABASE_URL", ("postgres", "postgresql"))
EMBEDDED = not DATABASE_URL
if EMBEDDED:
    _database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "flakeboard",
        "USER": "flakeboard",
        "HOST": str(paths.socket_directory(HOME)),
    }
else:
    try:
        _database = dict(dj_database_url.parse(DATABASE_URL))
    except ValueError as error:
        raise environment.BadSetting(f"DATABASE_URL cannot be read: {error}.") from error
DATABASES = {
    "default": {
        **_database,
        "CONN_MAX_AGE": environment.number("DATABASE_CONNECTION_SECONDS", 60, most=86_400),
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
    else {"visibility_timeout": 300, "socket_connect_timeout": 2, "socket_timeout": 5, "socket_keepalive": True}
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
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
QUEUES = {
    "uploads": QueueLimits(
        seconds=environment.number("UPLOAD_SECONDS", 600, least=10),
        memory_kb=environment.number("UPLOAD_MEMORY_KB", 1_500_000, least=200_000),
        processes=environment.number("WORKER_CONCURRENCY", 2, least=1, most=256),
    ),
    "analyses": QueueLimits(
        seconds=environment.number("TASK_SECONDS", 900, least=10),
        memory_kb=environment.number("WORKER_MEMORY_KB", 1_500_000, least=200_000),
        processes=environment.number("ANALYSIS_CONCURRENCY", 1, least=1, most=256),
    ),
    "notifications": QueueLimits(
        seconds=environment.number("NOTIFICATION_SECONDS", 120, least=10),
        memory_kb=environment.number("NOTIFICATION_MEMORY_KB", 500_000, least=200_000),
        processes=environment.number("NOTIFICATION_CONCURRENCY", 1, least=1, most=256),
    ),
}
"""Queue -> what its workers may use. Uploads have workers of their own: an analysis can never keep one waiting."""
WORKER_NICE = environment.number("WORKER_NICE", 10, least=0, most=19)
CELERY_TASK_DEFAULT_QUEUE = "analyses"
CELERY_TASK_ROUTES = {
    "uploads.*": {"queue": "uploads"},
    **{
        f"{kind}.*": {"queue": "notifications"}
        for kind in ("notifications", "deliveries", "digests", "tickets", "pulls", "quarantines", "keeping")
    },
}
CELERY_TASK_TIME_LIMIT = max(limits.seconds for limits in QUEUES.values())
CELERY_BEAT_SCHEDULE_FILENAME = str(HOME / "beat-schedule")
SWEEP_SECONDS = environment.number("SWEEP_SECONDS", 15, least=1, most=3_600)
CELERY_BEAT_SCHEDULE = {
    # A sweep that nobody took before the next one was due is of no more use: they must not pile up.
    "sweep": {"task": "uploads.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "analyses": {"task": "analyses.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "quarantines": {"task": "quarantines.expire", "schedule": 60, "options": {"expires": 60}},
    "notifications": {"task": "notifications.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "alerts": {"task": "alerts.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "tickets": {"task": "tickets.sweep", "schedule": 60, "options": {"expires": 60}},
    "pulls": {"task": "pulls.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
    "digests": {"task": "digests.sweep", "schedule": 300, "options": {"expires": 300}},
    "keeping": {"task": "keeping.sweep", "schedule": 60, "options": {"expires": 60}},
}
WEB_CONCURRENCY = environment.number("WEB_CONCURRENCY", 2, least=1, most=256)
WEB_THREADS = environment.number("WEB_THREADS", 16, least=1, most=1_024)
WEB_SILENCE_SECONDS = environment.number("WEB_SILENCE_SECONDS", 10, least=1, most=300)

# -- analyses ---------------------------------------------------------------------------------------------------

ANALYSIS_DELAY_SECONDS = environment.number("ANALYSIS_DELAY_SECONDS", 1, least=0, most=86_400)
DEVELOPER_MINUTES = environment.number("DEVELOPER_MINUTES", int(DEFAULTS.developer_minutes), least=0, most=10_000)
ANALYSIS_LEASE_SECONDS = environment.number("ANALYSIS_LEASE_SECONDS", 60, least=10, most=86_400)

# -- uploads ----------------------------------------------------------------------------------------------------

LIMITS = Limits(
    **{
        field.name: environment.number(f"LIMIT_{field.name.upper()}", field.default, least=1)
        for field in fields(Limits)
    }
)
TRACE_LIMITS = TraceLimits(
    events=environment.number("LIMIT_TRACE_EVENTS", TraceLimits().events, least=1),
    bytes=environment.number("LIMIT_TRACE_BYTES", TraceLimits().bytes, least=1),
    traces=environment.number("LIMIT_TRACES", TraceLimits().traces, least=1),
)
REACH_LIMITS = ReachLimits(
    tests=environment.number("LIMIT_REACH_TESTS", ReachLimits().tests, least=1),
    functions=environment.number("LIMIT_REACH_FUNCTIONS", ReachLimits().functions, least=1),
    changed_files=environment.number("LIMIT_CHANGED_FILES", ReachLimits().changed_files, least=1),
    changed_ranges=environment.number("LIMIT_CHANGED_RANGES", ReachLimits().changed_ranges, least=1),
)
ATTACHMENT_LIMITS = AttachmentLimits(
    bytes=environment.number("LIMIT_ATTACHMENT_BYTES", AttachmentLimits().bytes, least=1),
    files=environment.number("LIMIT_ATTACHMENTS", AttachmentLimits().files, least=0),
    total=environment.number("LIMIT_ATTACHMENTS_BYTES", AttachmentLimits().total, least=1),
)
"""Files beside an upload: bytes of one, how many (0: none are taken), bytes of all."""
TRACES_KEPT = environment.number("TRACES_KEPT", 100, least=1, most=1_000)
"""Traces of failing executions that are kept of a test, and as many of passing ones: the newest."""
UPLOAD_TRIES = environment.number("UPLOAD_TRIES", 5, least=1, most=100)
"""How often a worker may die over one upload before it is set aside as failed."""
UPLOAD_LEASE_SECONDS = environment.number("UPLOAD_LEASE_SECONDS", 45, least=2, most=3_600)
"""How long a claim holds without a sign of life."""
UPLOADS_PER_MINUTE = environment.number("UPLOADS_PER_MINUTE", 60, least=1)
"""Uploads that one token may send in a minute."""
UPLOAD_BYTES_PER_HOUR = environment.number("UPLOAD_BYTES_PER_HOUR", 2_000_000_000, least=1)
"""Bytes that one token may send in an hour, by uploads and to the gate."""
GATES_PER_MINUTE = environment.number("GATES_PER_MINUTE", 60, least=1)
"""Questions to the gate that one token may ask in a minute."""
EXPERIMENTS_PER_HOUR = environment.number("EXPERIMENTS_PER_HOUR", 600, least=1)
"""Experiments that one token may announce in an hour; each machine that takes part announces it."""
VALUES_PER_HOUR = environment.number("VALUES_PER_HOUR", 1_200, least=1)
"""How often one token may send values of assertions in an hour; `flakeboard bounds` does so after every 50 runs."""
SCHEDULES_PER_HOUR = environment.number("SCHEDULES_PER_HOUR", 600, least=1)
SKETCHES_PER_HOUR = environment.number("SKETCHES_PER_HOUR", 600, least=1)
"""Schedules that one token may ask for in an hour."""
PROJECT_BYTES = environment.number("PROJECT_BYTES", 200_000_000_000)
"""Bytes of uploads that one project may keep; 0 for any."""
PROJECT_ATTACHMENT_BYTES = environment.number("PROJECT_ATTACHMENT_BYTES", 20_000_000_000)
"""Bytes of attachments that one project may keep, besides its uploads; 0 for any."""
PROJECT_CASES_PER_DAY = environment.number("PROJECT_CASES_PER_DAY", 1_000_000_000)
"""Test cases that one project may have in a day; 0 for any."""
WAIT_SECONDS = environment.number("WAIT_SECONDS", 60, least=1, most=600)
"""The longest that `?wait=` may hold a request."""
SPOOL_BYTES = environment.number("SPOOL_BYTES", 1_000_000_000, least=1)
"""Bytes of uploads that one web process may be receiving at a time, all its requests together."""
if LIMITS.bytes_in > SPOOL_BYTES:
    raise environment.BadSetting(f"SPOOL_BYTES={SPOOL_BYTES} must be at least LIMIT_BYTES_IN={LIMITS.bytes_in}.")
DATA_UPLOAD_MAX_NUMBER_FILES = 0
"""Pages take no files. Uploads are read by ourselves, and their files are counted there (LIMIT_FILES)."""
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
BODY_BYTES = 4 * 1024 * 1024
"""The largest body of a request that is no upload."""

# -- what is kept -----------------------------------------------------------------------------------------------

AUDIT_DAYS = environment.number("AUDIT_DAYS", ages.AUDIT_DAYS, most=ages.MOST_DAYS)
"""How long entries of the audit log are kept; 0 for ever. Projects have ages of their own for everything else."""
if 0 < AUDIT_DAYS < ages.LEAST_AUDIT_DAYS:
    raise environment.BadSetting(f"AUDIT_DAYS={AUDIT_DAYS} must be 0, for ever, or at least {ages.LEAST_AUDIT_DAYS}.")

# -- messages to people and other programs ----------------------------------------------------------------------

OUTGOING_ALLOW = environment.words("OUTGOING_ALLOW", [])
"""Networks and hosts that webhooks and trackers may be on besides the open internet."""
OUTGOING_SECONDS = environment.number("OUTGOING_SECONDS", 10, least=1, most=60)
"""The longest that one request to such a place may take."""
DIGEST_HOUR = environment.number("DIGEST_HOUR", 6, least=0, most=23)
_mail = environment.mail_server("EMAIL_URL")
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.host, _mail.port, _mail.user, _mail.password
EMAIL_USE_TLS, EMAIL_USE_SSL, EMAIL_TIMEOUT = _mail.starttls, _mail.tls, 15
DEFAULT_FROM_EMAIL = environment.text("EMAIL_FROM", "flakeboard@localhost")

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
    "dashboard.notify",
    "dashboard.people",
    "dashboard.retention",
    "dashboard.ci_trust",
]
MIDDLEWARE = [
    "dashboard.ops.health.probes_first",
    "dashboard.ops.logs.request_context",
    "dashboard.ops.metrics.count_requests",
    "django.middleware.security.SecurityMiddleware",
    "dashboard.middleware.headers",
    "dashboard.middleware.small_bodies",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "dashboard.middleware.database_unavailable",
    "dashboard.middleware.who_asks",
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
CSRF_FAILURE_VIEW = "dashboard.web.errors.forged"
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
    "dashboard.ops.static_files.PlotlyFinder",
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
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "dashboard.api.schema.promise_everywhere",
    ],
    "ENUM_NAME_OVERRIDES": {
        "UploadStateEnum": "ingest.models.Upload.State",
        "SeverityEnum": "dashboard.api.channels.SEVERITIES",
        "TestStateEnum": "analytics.columns.schema.STATES",
        "QuarantineStateEnum": "dashboard.api.quarantine.quarantine_serializers.STATES",
        "QuarantineBeginningEnum": "dashboard.api.quarantine.quarantine_serializers.BEGINNINGS",
        "QuarantineModeEnum": "dashboard.api.quarantine.quarantine_serializers.MODES",
        "QuarantineActionEnum": "dashboard.api.quarantine.quarantine_serializers.ACTIONS",
        "PolicyModeEnum": "dashboard.api.quarantine.policy.POLICY_MODES",
        "ScheduleKindEnum": "analytics.lab.schedules.request.KINDS",
        "KeptScheduleKindEnum": "analytics.lab.schedules.models.KEPT",
        "ValueKindEnum": "dashboard.api.lab.value_serializers.VALUE_KINDS",
        "BoundWordEnum": "dashboard.api.lab.value_serializers.BOUND_WORDS",
        "PredictionWordEnum": "dashboard.api.analysis.likeness_serializers.PREDICTION_WORDS",
        "LikenessWordEnum": "dashboard.api.analysis.likeness_serializers.LIKENESS_WORDS",
        "ExperimentStateEnum": "dashboard.api.lab.experiment_serializers.STATES",
        "ExperimentOrderKindEnum": "ingest.models.ExperimentOrder.Kind",
        "ExperimentFindingKindEnum": "analytics.lab.models.ExperimentFinding.Kind",
        "OrderFindingKindEnum": "dashboard.api.analysis.finding_serializers.ORDER_FINDING_KINDS",
        "ChannelKindEnum": "dashboard.api.channels.CHANNEL_KINDS",
        "ChannelPaceEnum": "dashboard.api.channels.PACES",
        "NewsEnum": "dashboard.api.channels.NEWS",
    },
}

# -- what is told to operators ----------------------------------------------------------------------------------

LOG_LEVEL = environment.choice(
    "LOG_LEVEL", "WARNING" if EMBEDDED else "INFO", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
)
LOG_FORMAT = environment.choice("LOG_FORMAT", "LINE", ("LINE", "JSON")).lower()
LOGGING = logs.configuration(LOG_FORMAT, LOG_LEVEL)
METRICS_TOKEN = environment.text("METRICS_TOKEN", "")
METRICS_ALLOW = environment.networks("METRICS_ALLOW", ["127.0.0.0/8", "::1/128"])
