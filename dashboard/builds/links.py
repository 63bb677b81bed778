"""Where a commit, a comparison or a pull request is on the web, by the address of the repository. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, urlsplit

_LONGEST = 500


class Host(StrEnum):
    """What a repository is served by; its addresses follow from that."""

    GITHUB = "github"
    GITLAB = "gitlab"
    BITBUCKET = "bitbucket"
    GITEA = "gitea"
    AZURE = "azure"


_NAMED_SO = {
    Host.GITLAB: ("gitlab",),
    Host.BITBUCKET: ("bitbucket",),
    Host.AZURE: ("dev.azure.com", "visualstudio.com"),
    Host.GITEA: ("gitea", "codeberg", "forgejo"),
}
"""Words in a host's name that tell what it is; all others are taken for GitHub."""

_COMMIT = {
    Host.GITHUB: "{base}/commit/{commit}",
    Host.GITLAB: "{base}/-/commit/{commit}",
    Host.BITBUCKET: "{base}/commits/{commit}",
    Host.GITEA: "{base}/commit/{commit}",
    Host.AZURE: "{base}/commit/{commit}",
}
_COMPARE = {
    Host.GITHUB: "{base}/compare/{old}...{new}",
    Host.GITLAB: "{base}/-/compare/{old}...{new}",
    Host.BITBUCKET: "{base}/branches/compare/{new}..{old}",
    Host.GITEA: "{base}/compare/{old}...{new}",
    Host.AZURE: "{base}/branchCompare?baseVersion=GC{old}&targetVersion=GC{new}",
}
_PULL = {
    Host.GITHUB: "{base}/pull/{number}",
    Host.GITLAB: "{base}/-/merge_requests/{number}",
    Host.BITBUCKET: "{base}/pull-requests/{number}",
    Host.GITEA: "{base}/pulls/{number}",
    Host.AZURE: "{base}/pullrequest/{number}",
}


class BadAddress(ValueError):
    """The address of a repository that cannot be linked to; the text is for people."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on the web."""

    base: str
    host: Host

    def commit(self, commit: str) -> str:
        return _COMMIT[self.host].format(base=self.base, commit=_part(commit)) if commit else ""

    def compare(self, old: str, new: str) -> str:
        if not old or not new or old == new:
            return ""
        return _COMPARE[self.host].format(base=self.base, old=_part(old), new=_part(new))

    def pull(self, number: str) -> str:
        return _PULL[self.host].format(base=self.base, number=_part(number)) if number else ""


def _part(text: str) -> str:
    """What CI sent is never more than one step of an address."""
    return quote(text, safe="")


def checked_address(text: str) -> str:
    """The address without what is too much, empty for none; BadAddress where nobody should be sent there."""
    address = text.strip().rstrip("/").removesuffix(".git")
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname) and (parts.port or True)
    except ValueError as error:
        raise BadAddress("The address cannot be read.") from error
    if parts.scheme not in ("http", "https") or not named:
        raise BadAddress("The address of a repository starts with https:// or http:// and names a host.")
    if parts.username is not None or parts.password is not None:
        raise BadAddress("The address may hold no user name and no password.")
    if parts.query or parts.fragment or not parts.path.strip("/"):
        raise BadAddress("The address names the repository, as in https://github.com/owner/name.")
    if len(address) > _LONGEST or any(not 33 <= ord(letter) <= 126 or letter in "\"'<>\\" for letter in address):
        raise BadAddress(f"The address has at most {_LONGEST} plain characters, without blanks.")
    return address


def repository_at(address: str) -> Repository | None:
    """None where no repository is known."""
    if not address:
        return None
    name = urlsplit(address).hostname or ""
    host = next((host for host, words in _NAMED_SO.items() if any(word in name for word in words)), None)
    path = urlsplit(address).path
    if host is None and "/_git/" in path:
        host = Host.AZURE
    return Repository(address, host or Host.GITHUB)
