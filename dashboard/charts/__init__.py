"""Charts: a dataclass in, a Plotly figure out. Nothing of Django."""
