"""How Flakeboard is run: processes, database, broker, logs, metrics and health."""
