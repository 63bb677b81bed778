"""What happened in CI, as it is stored. DESIGN: a report is a roster and two vectors; what is rare has rows."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.counted import Counted
from ingest.junit.report import Provenance
from ingest.verdict import Verdict

VERDICTS = [(verdict.value, verdict.name) for verdict in Verdict]
PROVENANCES = [(provenance.value, provenance.value) for provenance in Provenance]


class LiveProjects(models.Manager["Project"]):
    """All but those that are being deleted: for everybody else they are gone."""

    def get_queryset(self) -> "models.QuerySet[Project]":
        return super().get_queryset().filter(deleting_at=None)


class Project(models.Model):
    """One repository, or one suite of it, whose tests are tracked."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    default_branch = models.CharField(max_length=255, default="main")
    test_count = models.IntegerField(default=0)
    """Test numbers given out so far."""
    demo = models.BooleanField(default=False)
    """Simulated: to look at, and to delete."""
    public = models.BooleanField(default=False, db_default=False)
    """Whoever reaches the server may read it, signed in or not; nobody changes more for it."""
    redact = models.BooleanField(default=True, db_default=True)
    """Secrets in failure text are replaced before it is stored: `ingest.redaction`."""
    deleting_at = models.DateTimeField(null=True)
    """Since when it is being deleted, row by row; null for projects that stay."""
    created_at = models.DateTimeField(default=timezone.now)

    objects = LiveProjects()
    all_objects = models.Manager()  # noqa: DJ012 - a manager, not a field

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name


class Token(models.Model):
    """What lets CI in. Only its digest is kept."""

    class Scope(models.TextChoices):
        UPLOAD = "upload"
        GATE = "gate"
        READ = "read"
        QUARANTINE = "quarantine"

    project = models.ForeignKey(Project, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=120)
    scope = models.CharField(max_length=12, choices=Scope)
    digest = models.BinaryField(max_length=32, unique=True)
    hint = models.CharField(max_length=24)
    """The token's first characters, to recognise it by."""
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)


class Run(models.Model):
    """One execution of a suite by CI."""

    project = models.ForeignKey(Project, models.CASCADE)
    key = models.BinaryField(max_length=16)
    commit = models.CharField(max_length=64, blank=True)
    tree = models.CharField(max_length=64, blank=True)
    branch = models.CharField(max_length=255, blank=True)
    pull_request = models.CharField(max_length=64, blank=True)
    build_id = models.CharField(max_length=255, blank=True)
    build_url = models.CharField(max_length=2_000, blank=True)
    attempt = models.IntegerField(default=1)
    job = models.CharField(max_length=255, blank=True)
    shard = models.CharField(max_length=64, blank=True)
    environment = models.JSONField(default=dict)
    host = models.CharField(max_length=255, blank=True)
    started_at = models.DateTimeField()
    """What CI or the report says, where that can be; orders histories."""
    untrusted = models.BooleanField(default=False, db_default=False)
    """Of a fork, or with something of one in it, and not admitted yet."""

    objects = models.Manager()
    counted = Counted()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "key"), name="run_once"),)
        indexes = (
            models.Index(fields=("project", "-started_at", "-id"), name="run_newest"),
            models.Index(fields=("project", "commit"), name="run_commit", condition=~Q(commit="")),
        )


class Upload(models.Model):
    """What CI sent, from the moment it is accepted: queue, receipt and error report at once."""

    class State(models.TextChoices):
        RECEIVED = "received"
        PROCESSING = "processing"
        PROCESSED = "processed"
        REJECTED = "rejected"
        """Nothing in it could be read; its files say why."""
        FAILED = "failed"
        """We could not process it. Its bytes are kept, and it can be processed again."""

    WAITING = (State.RECEIVED, State.PROCESSING)

    project = models.ForeignKey(Project, models.CASCADE)
    token = models.ForeignKey(Token, models.SET_NULL, null=True)
    state = models.CharField(max_length=12, choices=State, default=State.RECEIVED)
    received_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    metadata = models.JSONField(default=dict)
    run_key = models.BinaryField(max_length=16)
    content_digest = models.BinaryField(max_length=32)
    idempotency_key = models.CharField(max_length=255, null=True)
    size = models.BigIntegerField()
    file_count = models.IntegerField(default=1)
    claim = models.UUIDField(null=True)
    """Who is processing it: the result of anybody else is thrown away."""
    lease_until = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)
    files = models.JSONField(default=list)
    """What became of each file; values that are zero, false or empty are left out."""
    error = models.JSONField(null=True)
    """Why it was rejected or failed: code and sentence."""
    run = models.ForeignKey(Run, models.SET_NULL, null=True)
    untrusted = models.BooleanField(default=False, db_default=False)
    """What a fork sent: its reports are kept apart from all that counts until somebody admits them."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "run_key", "content_digest"), name="upload_once"),
            models.UniqueConstraint(
                fields=("project", "idempotency_key"),
                name="upload_idempotency",
                condition=Q(idempotency_key__isnull=False),
            ),
        )
        indexes = (
            models.Index(fields=("project", "-id"), name="upload_newest"),
            models.Index(fields=("token", "received_at"), name="upload_rate"),
            models.Index(
                fields=("received_at",), name="upload_waiting", condition=Q(state__in=("received", "processing"))
            ),
            models.Index(fields=("project", "received_at", "id"), name="upload_turn", condition=Q(state="received")),
        )


class UploadChunk(models.Model):
    """A mebibyte of an upload's bytes, as `ingest.bundle` wrote them."""

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="chunks", db_index=False)
    position = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("upload", "position"), name="upload_chunk_once"),)


class Test(models.Model):
    """One test case of a project. Its number is its place in the project's vectors and never changes."""

    __test__ = False  # the name means something to pytest

    id = models.AutoField(primary_key=True)
    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    number = models.IntegerField()
    digest = models.BinaryField(max_length=16)
    suite = models.TextField(blank=True)
    classname = models.TextField(blank=True)
    name = models.TextField()
    file = models.TextField(blank=True)
    first_seen = models.DateTimeField()
    alias_of = models.ForeignKey("self", models.SET_NULL, null=True, related_name="aliases")
    """The test that this one is called now: their histories are one."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="test_once"),
            models.UniqueConstraint(fields=("project", "number"), name="test_number"),
        )


class Rename(models.Model):
    """A test gone and a near-identical one new: the same test? A person decides."""

    class State(models.TextChoices):
        SUGGESTED = "suggested"
        ACCEPTED = "accepted"
        DISMISSED = "dismissed"

    project = models.ForeignKey(Project, models.CASCADE)
    old = models.ForeignKey(Test, models.CASCADE, related_name="+")
    new = models.ForeignKey(Test, models.CASCADE, related_name="+")
    score = models.FloatField()
    state = models.CharField(max_length=10, choices=State, default=State.SUGGESTED)
    suggested_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("old", "new"), name="rename_once"),)


class Roster(models.Model):
    """The set of tests of a report, kept once however many reports share it."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    size = models.IntegerField()
    form = models.SmallIntegerField()
    base = models.IntegerField()
    last = models.IntegerField()
    """The highest test number: with `base`, a quick no to "is this test in it?"."""
    members = models.BinaryField()
    usual_order = models.BinaryField(null=True)
    """The first order that is known to be true, as rows; empty for ascending numbers, null for none known."""
    usual_order_digest = models.BigIntegerField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="roster_once"),)


class Report(models.Model):
    """What one upload said of one run: a roster, and one verdict and one duration per test."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    upload = models.ForeignKey(Upload, models.SET_NULL, null=True)
    roster = models.ForeignKey(Roster, models.CASCADE)
    content_digest = models.BinaryField(max_length=32)
    file_digests = models.BinaryField()
    """Eight bytes of each file's SHA-256: a file that comes again for the same run counts once."""
    started_at = models.DateTimeField()
    verdicts = models.BinaryField()
    durations = models.BinaryField()
    order = models.BinaryField(null=True)
    """Rows in order of execution, where that is known and not the roster's usual one."""
    order_digest = models.BigIntegerField(null=True)
    order_reliable = models.BooleanField()
    producer = models.CharField(max_length=40)
    partial = models.BooleanField()
    tests = models.IntegerField()
    passed = models.IntegerField()
    failed = models.IntegerField()
    errored = models.IntegerField()
    skipped = models.IntegerField()
    attempts = models.IntegerField()
    run_errors = models.JSONField(default=list)
    untrusted = models.BooleanField(default=False, db_default=False)

    objects = models.Manager()
    counted = Counted()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "content_digest"), name="report_once"),)
        indexes = (models.Index(fields=("project", "-started_at", "-id"), name="report_newest"),)


class Signature(models.Model):
    """What is left of a failure's text when the volatile parts are taken out."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    text = models.TextField()
    first_seen = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="signature_once"),)


class Attempt(models.Model):
    """One execution of a test that had several in one report."""

    report = models.ForeignKey(Report, models.CASCADE, db_index=False, related_name="attempt_rows")
    test = models.ForeignKey(Test, models.CASCADE)
    ordinal = models.SmallIntegerField()
    verdict = models.SmallIntegerField(choices=VERDICTS)
    duration = models.FloatField(null=True)
    provenance = models.CharField(max_length=9, choices=PROVENANCES)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("report", "test", "ordinal"), name="attempt_once"),)


class Failure(models.Model):
    """A failure or error that a failing attempt reported; an attempt may report several."""

    report = models.ForeignKey(Report, models.CASCADE, db_index=False, related_name="failures")
    test = models.ForeignKey(Test, models.CASCADE)
    ordinal = models.SmallIntegerField()
    part = models.SmallIntegerField()
    verdict = models.SmallIntegerField(choices=VERDICTS)
    type = models.TextField(blank=True)
    message = models.TextField(blank=True)
    text = models.TextField(blank=True)
    system_out = models.TextField(blank=True)
    system_err = models.TextField(blank=True)
    signature = models.ForeignKey(Signature, models.CASCADE)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("report", "test", "ordinal", "part"), name="failure_once"),)
