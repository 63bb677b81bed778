"""Labels and notes on tests, and views: queries with a name."""
