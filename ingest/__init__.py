"""What happened in CI: reports read, stored and found again."""
