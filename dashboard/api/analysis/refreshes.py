"""How far the next analysis is, as the API tells it."""

from rest_framework import serializers

from analytics.models import Refresh


class RefreshSerializer(serializers.Serializer):
    """What the next analysis waits for, or how far it is."""

    asked_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when something is new that the current one does not know; null for nothing."
    )
    due_at = serializers.DateTimeField(allow_null=True, help_text="When it begins.")
    running = serializers.BooleanField()
    began_at = serializers.DateTimeField(allow_null=True, help_text="When the last one began.")
    phase = serializers.CharField(allow_blank=True, help_text="What it is at.")
    share = serializers.FloatField(help_text="How much of it is done, 0 to 1.")
    error = serializers.CharField(allow_blank=True, help_text="Why the last one failed.")


def refresh_told(refresh: Refresh | None) -> dict[str, object]:
    """As `RefreshSerializer` shows it; all empty where none was ever asked for."""
    now = refresh or Refresh()
    shown = ("asked_at", "due_at", "began_at", "phase", "share", "error")
    return {"running": now.claim is not None, **{name: getattr(now, name) for name in shown}}
