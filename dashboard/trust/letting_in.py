"""From an ID token to the trusted repository that it speaks for, in the place where others show a token of ours."""

from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard.trust.claims import READERS, Told, fits
from dashboard.trust.id_tokens import NotTrusted, use, verified
from dashboard.trust.models import TrustedRepository

_READS = ("GET", "HEAD", "OPTIONS")


def repository_let_in(text: str, request: HttpRequest, slug: str) -> TrustedRepository:
    """The repository whose job sends this, with what its token tells (`told`). Raises NotTrusted and IssuerAway.

    Sending something uses the token up. Where the repository is trusted by other projects only, one of those: the
    project that was asked for is then answered as one that does not exist."""
    claims = verified(text)
    found = _repository(claims, slug)
    _check_place(found)
    if found.project.slug == slug and request.method not in _READS:
        use(claims, path=request.path, key=request.headers.get("Idempotency-Key", "").strip())
    if found.told.name and found.told.name != found.name:
        TrustedRepository.objects.filter(pk=found.pk).update(name=found.told.name)
        found.name = found.told.name
    return found


def _repository(claims: dict[str, object], slug: str) -> TrustedRepository:
    of_issuer = TrustedRepository.objects.filter(issuer=claims["iss"], enabled=True)
    for provider in of_issuer.order_by().values_list("provider", flat=True).distinct():
        told = READERS[provider](claims)
        found = _asked_for(of_issuer.filter(provider=provider, repository_id=told.repository_id), slug)
        if found is not None and told.repository_id:
            found.told = told
            return found
    raise NotTrusted(
        "No project here trusts this repository. Its administrators can add it on the project's set-up page."
    )


def _asked_for(known: "QuerySet[TrustedRepository]", slug: str) -> TrustedRepository | None:
    rows = list(known.select_related("project"))
    return next((one for one in rows if one.project.slug == slug), rows[0] if rows else None)


def _check_place(repository: TrustedRepository) -> None:
    """What the project asks of a job besides its repository. A relay for forks runs where the default branch does."""
    told: Told = repository.told
    if repository.refs and not fits(told.ref, repository.refs):
        raise NotTrusted("The project does not trust this branch of the repository, or takes no pull requests from it.")
    if repository.protected_only and not told.protected:
        raise NotTrusted("The project trusts protected branches of the repository only.")
    if repository.environment and repository.environment != told.environment:
        raise NotTrusted("The project trusts jobs of one environment only, and this job has another or none.")
