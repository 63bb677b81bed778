"""The parts of the pytest plugin. The command imports none of them."""
