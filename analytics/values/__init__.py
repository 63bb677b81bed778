"""Values of approximate assertions: what is concluded from them, in numbers and in words."""
