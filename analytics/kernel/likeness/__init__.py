"""Which tests look like flaky ones, and whether that has been right before. See docs/concepts.md#predictions."""
