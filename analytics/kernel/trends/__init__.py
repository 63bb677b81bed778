"""What changes from week to week: spells of flakiness, periods compared, and when a test became slower."""
