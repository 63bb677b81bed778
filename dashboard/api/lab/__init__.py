"""The laboratory on orders: experiments, dependencies, schedules and coverage."""
