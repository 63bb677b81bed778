"""What makes a suite long: tests and suites by time, tests that became slower, and the longest job of a build."""
