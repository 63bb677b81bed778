"""What is kept and for how long: retention, deletion, backup, export."""
