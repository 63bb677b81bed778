"""How an order is run: the injected command, a process or a fork for each order, and what it recorded."""
