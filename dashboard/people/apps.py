from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "dashboard.people"
    label = "people"

    def ready(self) -> None:
        """A rule for groups that cannot be read stops the start."""
        from dashboard.people.groups import rules

        rules()
