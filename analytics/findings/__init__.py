"""From an analysis to what is stored of it: columns of all tests, and rows of what has evidence to show."""
