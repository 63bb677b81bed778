"""The navigation of a project: its sections, the pages in each, and where a page is in it."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from dashboard import access
from ingest.models import Project


@dataclass(frozen=True, slots=True)
class NavigationPage:
    label: str
    name: str
    """Of its address in `urls`."""
    below: tuple[str, ...] = ()
    """Names of pages that belong to it without an entry of their own."""
    action: str = "read"
    """What a person must be allowed to do to open it."""
    query: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Pages that show this entry as where the reader is."""
        return frozenset((self.name, *self.below))


@dataclass(frozen=True, slots=True)
class NavigationSection:
    """An entry of the first row: a page, or several under one label."""

    label: str
    pages: tuple[NavigationPage, ...]


def _alone(label: str, name: str, *below: str) -> NavigationSection:
    return NavigationSection(label, (NavigationPage(label, name, below),))


SECTIONS = (
    _alone("Overview", "project"),
    _alone("Fix first", "priorities"),
    _alone("Tests", "tests", "test"),
    _alone("Runs", "runs", "run", "case", "build", "commit", "pull"),
    NavigationSection(
        "Quarantine",
        (
            NavigationPage("Quarantined tests", "quarantines", ("quarantine", "quarantine_new", "quarantine_bulk")),
            NavigationPage("Lifecycle", "lifecycle"),
        ),
    ),
    NavigationSection(
        "Insights",
        (
            NavigationPage("Trends", "trends", ("trend_points",)),
            NavigationPage("Slow tests", "slow_tests"),
            NavigationPage("Clusters", "clusters", ("cluster",)),
            NavigationPage("Reruns", "reruns"),
            NavigationPage("Orders", "orders"),
            NavigationPage("Experiments", "experiments", ("experiment",)),
            NavigationPage("Bounds", "near_bounds"),
            NavigationPage("Incidents", "incidents"),
        ),
    ),
    NavigationSection(
        "Settings",
        (
            NavigationPage("Setup", "setup"),
            NavigationPage("Uploads", "uploads", ("upload",)),
            NavigationPage("Policy", "policy"),
            NavigationPage("Owners", "owners"),
            NavigationPage("Members", "members", ("member_invite",), action="see_members"),
            NavigationPage("Notifications", "notifications", ("channel",), action="settings"),
            NavigationPage("Trust", "trust", action="tokens"),
            NavigationPage("Retention", "retention", action="settings"),
            NavigationPage("General", "project_settings", action="settings"),
            NavigationPage("Audit log", "project_audit", action="audit"),
        ),
    ),
)

ACTIONS = (
    NavigationPage("Quarantine a test: choose from the flaky ones", "tests", action="quarantine", query="state=flaky"),
    NavigationPage("Approve or reject proposals", "quarantines", action="quarantine"),
    NavigationPage("Confirm or reject incidents", "incidents", action="decide"),
    NavigationPage("Create a token", "setup", action="tokens"),
    NavigationPage("Trust a repository", "trust", action="tokens"),
    NavigationPage("Invite a person", "members", action="members"),
    NavigationPage("Add a notification channel", "notifications", action="settings"),
    NavigationPage("Change the quarantine policy", "policy", action="policy"),
    NavigationPage("Name owners of tests", "owners", action="settings"),
)
"""What people do most, and the page where each is done."""


@dataclass(frozen=True, slots=True)
class NavigationLink:
    label: str
    address: str
    here: bool
    links: "tuple[NavigationLink, ...]" = ()
    """The pages of a section of several."""


def navigation(user: access.Person, project: Project, here: str) -> list[NavigationLink]:
    """The sections that a person sees; `here` is the name of the page's address."""
    open_pages = ((section, list(_open_pages(section, user, project))) for section in SECTIONS)
    return [_section(section, pages, project, here) for section, pages in open_pages if pages]


def _section(section: NavigationSection, pages: list[NavigationPage], project: Project, here: str) -> NavigationLink:
    links = tuple(_link(page, project, here) for page in pages)
    return NavigationLink(section.label, links[0].address, any(link.here for link in links), links[1:] and links)


def _link(page: NavigationPage, project: Project, here: str) -> NavigationLink:
    return NavigationLink(page.label, page_address(page, project), here in page.names)


def page_address(page: NavigationPage, project: Project) -> str:
    return reverse(page.name, args=(project.slug,)) + (f"?{page.query}" if page.query else "")


def _open_pages(section: NavigationSection, user: access.Person, project: Project) -> Iterator[NavigationPage]:
    return (page for page in section.pages if access.user_may(user, project, page.action))
