"""The numbers that every test has: one table of columns, stored as one value."""
