"""The subcommands of `flakeboard`, a module each."""
