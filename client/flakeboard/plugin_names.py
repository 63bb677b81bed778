"""Names that the command and the plugin which it injects share, apart from pytest."""

LAB_MODULE = "flakeboard.plugin.lab"
LAB_VARIABLE = "FLAKEBOARD_LAB"
NOTES_FOLDER = "FLAKEBOARD_RUN_NOTES"
"""The environment variable that tells the plugin where to leave its note for `flakeboard run`."""
