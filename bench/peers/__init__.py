"""`detect` beside its peers, on real subjects and planted suites: what each finds, names and costs."""
