"""The parts of the pytest plugin. Nothing here is imported by the command."""
