"""People: what they may do in which project, how they come in, and who changed what."""
