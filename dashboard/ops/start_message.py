"""What a person sees at the start: where it is, how to get in, and the line that sends the first results."""

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from dashboard.ops import environment
from dashboard.ops.paths import ADDRESS_FILE
from ingest.models import Project, Token
from ingest.services import project_create, token_create

FIRST_USER = "admin"
FIRST_PROJECT = "my-project"
_SIGN_IN, _UPLOADS = "/sign-in/{}/{}", "/api/v1/projects/{}/uploads"
"""Written out: to look them up would load every view, which takes longer than all else of a start or a command."""


def public_address() -> str:
    """Where people reach the server: as the environment says, else as the server of this home said when it started."""
    if environment.text("PUBLIC_URL", "") or environment.text("PORT", ""):
        return settings.PUBLIC_URL
    try:
        return (settings.HOME / ADDRESS_FILE).read_text().strip() or settings.PUBLIC_URL
    except OSError:
        return settings.PUBLIC_URL


def sign_in_address(user: User) -> str:
    """A link that signs the user in once: it stops working when it is used, and after PASSWORD_RESET_TIMEOUT."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return public_address() + _SIGN_IN.format(uid, default_token_generator.make_token(user))


@transaction.atomic
def first_start() -> str | None:
    """On an empty database: an administrator, a project, and an upload token, whose text is returned."""
    if User.objects.exists():
        return None
    user = User.objects.create_superuser(FIRST_USER)
    user.set_unusable_password()
    user.save()
    if Project.objects.exists():
        return None
    project = project_create(slug=FIRST_PROJECT, name="My project")
    _, text = token_create(project=project, name="first", scope=Token.Scope.UPLOAD, created_by_id=user.pk)
    return text


def curl_line(slug: str, token: str) -> str:
    address = public_address() + _UPLOADS.format(slug)
    return f'curl -H "Authorization: Bearer {token}" -F file=@report.xml "{address}?wait=30"'


def message(first_token: str | None) -> str:
    """The lines that `serve` prints."""
    lines = ["", "  Flakeboard is running.", "", f"  Open      {settings.PUBLIC_URL}"]
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is not None and not admin.has_usable_password():
        lines.append(f"  Sign in   {sign_in_address(admin)}")
        lines.append(f"            (works once, for {admin.get_username()}; another one: manage.py sign_in_link)")
    if first_token:
        lines += [f"  Token     {first_token}", "            (for uploads to my-project; shown this once)"]
        lines += ["", "  Send results:", "", f"    {curl_line(FIRST_PROJECT, first_token)}"]
    else:
        lines += ["", "  Tokens are made on a project's setup page, or by: manage.py token <project>"]
    return "\n".join([*lines, "", "  Ctrl-C stops everything.", ""])
