"""What an experiment tells: on the console, as JSON, and to the server."""
