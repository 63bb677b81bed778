"""Names that the command and the plugin which it injects share, apart from pytest."""

LAB_MODULE = "flakeboard.plugin.lab"
LAB_VARIABLE = "FLAKEBOARD_LAB"
