"""`detect` measured: real subjects with known partners, planted suites, executors, kills, and changed tests."""

PARTS = ("planted", "real", "executors", "kills", "changed")
