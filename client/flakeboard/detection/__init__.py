"""Running orders on purpose: which tests depend on the order, on which others, and how that is shown."""
