"""The stored results of CI. A report is a roster and two vectors; only rare details have rows."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KT
from django.db.models.functions import Now
from django.utils import timezone

from ingest import prices
from ingest.attachments.models import Attachment as Attachment
from ingest.attachments.models import AttachmentChunk as AttachmentChunk
from ingest.attachments.models import AttachmentUse as AttachmentUse
from ingest.identity import TestName
from ingest.junit.report import Provenance
from ingest.lab.coverage_models import Coverage as Coverage
from ingest.lab.models import Experiment
from ingest.lab.models import ExperimentOrder as ExperimentOrder
from ingest.lab.models import ProbeBatch as ProbeBatch
from ingest.lab.trace_models import Trace as Trace
from ingest.lab.value_models import ForkValues as ForkValues
from ingest.lab.value_models import ValueSeries as ValueSeries
from ingest.reach.models import Reach as Reach
from ingest.reach.models import ReachName as ReachName
from ingest.reach.models import ReachSet as ReachSet
from ingest.reach.models import RunChange as RunChange
from ingest.verdict import Verdict

REPORT_COUNTS = "(report.experiment_id IS NULL AND NOT report.untrusted)"
"""In a query that calls `ingest_report` report: the rows of `Report.counted`."""


class FromCI(models.Manager):
    """Runs or reports that CI sent. Those of experiments never enter statistics, so nothing meets them by accident."""

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(experiment=None)


class TrustedManager(FromCI):
    """The same, without those of forks that nobody admitted."""

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(untrusted=False)


VERDICTS = [(verdict.value, verdict.name) for verdict in Verdict]
PROVENANCES = [(provenance.value, provenance.value) for provenance in Provenance]


class TestsInCI(models.Manager["Test"]):
    """Tests, without those that only experiments have named."""

    def get_queryset(self) -> "models.QuerySet[Test]":
        return super().get_queryset().filter(seen_in_ci=True)


class LiveProjects(models.Manager["Project"]):
    """Projects, without those that are being deleted."""

    def get_queryset(self) -> "models.QuerySet[Project]":
        return super().get_queryset().filter(deleting_at=None)


class Project(models.Model):
    """A repository, or a suite of it, whose tests are tracked."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    default_branch = models.CharField(max_length=255, default="main")
    test_count = models.IntegerField(default=0)
    """Test numbers assigned so far."""
    demo = models.BooleanField(default=False)
    """Simulated data, to look at and to delete."""
    public = models.BooleanField(default=False, db_default=False)
    """Anybody who reaches the server may read it, signed in or not; it grants no further rights."""
    redact = models.BooleanField(default=True, db_default=True)
    """Secrets in failure text are replaced before it is stored: `ingest.redaction`."""
    failure_price = models.FloatField(default=prices.FAILURE, db_default=prices.FAILURE)
    minute_price = models.FloatField(default=prices.MACHINE_MINUTE, db_default=prices.MACHINE_MINUTE)
    currency = models.CharField(max_length=prices.LONGEST_CURRENCY, default=prices.CURRENCY, db_default=prices.CURRENCY)
    """The prices of an inspected failure and of a machine minute, and their currency, for `analytics.money`."""
    experiment_commits = models.IntegerField(default=150, db_default=150)
    experiment_days = models.IntegerField(default=30, db_default=30)
    """So many commits or days after a whole experiment the next one is due, and so many commits after it was last shown
    a dependency is stale."""
    least_right = models.FloatField(default=0.5, db_default=0.5)
    """How often its predictions must have been right, at the least, before one is shown: 0.3 to 0.9."""
    deleting_at = models.DateTimeField(null=True)
    """When its deletion, row by row, began; null for live projects."""
    repository_url = models.CharField(max_length=500, blank=True, default="", db_default="")
    """Where the repository is on the web, for links to commits and pull requests; empty where nobody said."""
    created_at = models.DateTimeField(default=timezone.now)

    objects = LiveProjects()
    all_objects = models.Manager()  # noqa: DJ012 - a manager, not a field

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name


class Token(models.Model):
    """A token for CI. Only its digest is kept."""

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
    kind = models.BinaryField(max_length=16, null=True)
    """`ingest.run_kind`: runs of one kind can be compared; null for runs stored before kinds existed."""
    host = models.CharField(max_length=255, blank=True)
    started_at = models.DateTimeField()
    """By the runner's clock: shown, and trusted only as far as `ingest.clock` does."""
    placed_at = models.DateTimeField(db_default=Now())
    """The run's position in its project's history, by `ingest.clock`. Its first upload sets it for good."""
    received_at = models.DateTimeField(db_default=Now())
    """When the run's first upload arrived, by our clock; for an import, the time of the import."""
    untrusted = models.BooleanField(default=False, db_default=False)
    """From a fork, or with uploads from one, and not admitted yet."""
    experiment = models.ForeignKey(Experiment, models.CASCADE, null=True, db_index=False)
    """The experiment that it belongs to; null for runs of CI."""

    objects = FromCI()
    counted = TrustedManager()
    all_objects = models.Manager()  # noqa: DJ012 - a manager, not a field

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "key"), name="run_once"),)
        indexes = (
            # By the runner's clock: the previous release queries it and may still be running.
            models.Index(fields=("project", "-started_at", "-id"), name="run_newest"),
            models.Index(fields=("project", "-placed_at", "-id"), name="run_placed"),
            models.Index(fields=("project", "-received_at", "-id"), name="run_received"),
            models.Index(fields=("project", "commit"), name="run_commit", condition=~Q(commit="")),
            models.Index(fields=("project", "kind", "-id"), name="run_kind"),
            models.Index(fields=("project", "build_id"), name="run_build", condition=~Q(build_id="")),
            models.Index(fields=("project", "pull_request"), name="run_pull_request", condition=~Q(pull_request="")),
            models.Index(fields=("experiment",), name="run_experiment", condition=Q(experiment__isnull=False)),
        )

    @property
    def has_odd_clock(self) -> bool:
        """Whether the runner's clock differs noticeably from the run's placement."""
        return abs(self.started_at - self.placed_at) > timedelta(minutes=1)


class Upload(models.Model):
    """An upload from CI since its acceptance: queue, receipt and error report at once."""

    class State(models.TextChoices):
        RECEIVED = "received"
        PROCESSING = "processing"
        PROCESSED = "processed"
        REJECTED = "rejected"
        """Nothing in it could be read; its files have the reasons."""
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
    """The claim of the worker that processes it; any other result is discarded."""
    lease_until = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)
    files = models.JSONField(default=list)
    """The outcome of each file, without values that are zero, false or empty."""
    error = models.JSONField(null=True)
    """Why it was rejected or failed: code and sentence."""
    run = models.ForeignKey(Run, models.SET_NULL, null=True)
    untrusted = models.BooleanField(default=False, db_default=False)
    """From a fork: its reports do not count until somebody admits them."""
    experiment = models.ForeignKey(Experiment, models.CASCADE, null=True, db_index=False)
    """The experiment whose orders or probes it has; null for uploads of CI."""
    stated_at = models.DateTimeField(null=True)
    """The date that an import states; null for uploads from CI."""
    kept_from = models.DateTimeField(null=True)
    """Since when retention counts, if not since its receipt: it was stored again, or imported with its own age."""
    removed_at = models.DateTimeField(null=True)
    """When retention removed its reports; null while they are kept."""

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
            models.Index(
                "project", KT("metadata__build_id"), name="upload_build", condition=Q(metadata__has_key="build_id")
            ),
            models.Index(fields=("token", "received_at"), name="upload_rate"),
            models.Index(
                fields=("received_at",), name="upload_waiting", condition=Q(state__in=("received", "processing"))
            ),
            models.Index(fields=("project", "received_at", "id"), name="upload_turn", condition=Q(state="received")),
            models.Index(fields=("experiment",), name="upload_experiment", condition=Q(experiment__isnull=False)),
            models.Index(fields=("finished_at",), name="upload_error", condition=Q(state__in=("rejected", "failed"))),
        )

    @property
    def is_removed(self) -> bool:
        """Whether retention removed its reports; earlier releases did not record when."""
        return self.state == self.State.PROCESSED and (self.removed_at is not None or self.run_id is None)


class UploadChunk(models.Model):
    """A mebibyte of an upload's bytes, as `ingest.bundle` wrote them."""

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="chunks", db_index=False)
    position = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("upload", "position"), name="upload_chunk_once"),)


class Test(models.Model):
    """A test case of a project. Its number is its index in the project's vectors and never changes."""

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
    seen_in_ci = models.BooleanField(default=True, db_default=True)
    """False for a test that only experiments have named so far: lists and searches leave it out."""
    alias_of = models.ForeignKey("self", models.SET_NULL, null=True, related_name="aliases")
    """The test that this one was renamed to: they share one history."""

    objects = models.Manager()
    in_ci = TestsInCI()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="test_once"),
            models.UniqueConstraint(fields=("project", "number"), name="test_number"),
        )

    @property
    def test_name(self) -> TestName:
        """What it is called by, without the rest of the row."""
        return TestName(self.number, self.suite, self.classname, self.name, self.file)


class Rename(models.Model):
    """A test that disappeared and a similar new one: a person decides whether they are the same."""

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
    certain = models.BooleanField(default=False, db_default=False)
    """Both have the same name, and only our reader's notion of identity changed: nobody needs to decide."""

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
    """The first reliable order, as rows; empty for ascending numbers, null if none is known."""
    usual_order_digest = models.BigIntegerField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="roster_once"),)


class Report(models.Model):
    """An upload's results of a run: a roster, and a verdict and a duration for each test."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, db_index=False)
    upload = models.ForeignKey(Upload, models.SET_NULL, null=True)
    roster = models.ForeignKey(Roster, models.CASCADE)
    content_digest = models.BinaryField(max_length=32)
    file_digests = models.BinaryField()
    """Eight bytes of each file's SHA-256, so that a file sent again for the same run counts once."""
    started_at = models.DateTimeField()
    """By the runner's clock, as in the run."""
    placed_at = models.DateTimeField(db_default=Now())
    """Orders histories and windows; set by `ingest.clock` from its upload."""
    kept_from = models.DateTimeField(db_default=Now())
    """Since when retention counts: the upload's receipt, unless the upload says otherwise."""
    verdicts = models.BinaryField()
    durations = models.BinaryField()
    order = models.BinaryField(null=True)
    """Rows in order of execution, if known and not the roster's usual order."""
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
    experiment = models.ForeignKey(Experiment, models.CASCADE, null=True, db_index=False)
    """As in the run."""

    objects = FromCI()
    counted = TrustedManager()
    all_objects = models.Manager()  # noqa: DJ012 - a manager, not a field

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "content_digest"), name="report_once"),)
        indexes = (
            # By the runner's clock, as in the run: for the previous release.
            models.Index(fields=("project", "-started_at", "-id"), name="report_newest"),
            models.Index(fields=("project", "-placed_at", "-id"), name="report_placed"),
            models.Index(fields=("project", "kept_from"), name="report_kept"),
            models.Index(fields=("experiment",), name="report_experiment", condition=Q(experiment__isnull=False)),
        )


class Signature(models.Model):
    """A failure's text without its volatile parts."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    digest = models.BinaryField(max_length=16)
    text = models.TextField()
    first_seen = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="signature_once"),)


class Attempt(models.Model):
    """An execution of a test that had several in one report."""

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
