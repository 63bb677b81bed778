"""From an ID token to the trusted repository that it speaks for, in the place where others show a token of ours."""

from django.http import HttpRequest

from dashboard.ci_trust.claims import READERS, JobClaims, fits
from dashboard.ci_trust.id_tokens import NotTrusted, use, verified
from dashboard.ci_trust.models import TrustedRepository

_READS = ("GET", "HEAD", "OPTIONS")


def repository_let_in(text: str, request: HttpRequest, slug: str) -> TrustedRepository:
    """The repository whose job sends this, with what its token claims as `job`. Raises NotTrusted and IssuerAway.

    Sending something uses the token up. Where the repository is trusted by other projects only, one of those: the
    project that was asked for is then answered as one that does not exist."""
    claims = verified(text)
    found = _repository(claims, slug)
    _check_place(found)
    if found.project.slug == slug and request.method not in _READS:
        use(claims, path=request.path, key=request.headers.get("Idempotency-Key", "").strip())
    if found.job.name and found.job.name != found.name:
        TrustedRepository.objects.filter(pk=found.pk).update(name=found.job.name)
        found.name = found.job.name
    return found


def _repository(claims: dict[str, object], slug: str) -> TrustedRepository:
    of_issuer = TrustedRepository.objects.filter(issuer=claims["iss"], enabled=True)
    known = []
    for provider in of_issuer.order_by("provider").values_list("provider", flat=True).distinct():
        job = READERS[provider](claims)
        same = of_issuer.filter(provider=provider, repository_id=job.repository_id).select_related("project")
        for repository in same if job.repository_id else ():
            repository.job = job
            known.append(repository)
    if not known:
        raise NotTrusted(
            "No project here trusts this repository. Its administrators can add it on the project's set-up page."
        )
    return next((repository for repository in known if repository.project.slug == slug), known[0])


def _check_place(repository: TrustedRepository) -> None:
    """Check what the project requires of a job besides its repository; relays for forks run on the default branch."""
    job: JobClaims = repository.job
    if repository.refs and not fits(job.ref, repository.refs):
        raise NotTrusted("The project does not trust this branch of the repository, or takes no pull requests from it.")
    if repository.protected_only and not job.protected:
        raise NotTrusted("The project trusts protected branches of the repository only.")
    if repository.environment and repository.environment != job.environment:
        raise NotTrusted("The project trusts jobs of one environment only, and this job has another or none.")
