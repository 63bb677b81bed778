"""One test over time: executions, evidence, strips, names and search."""
