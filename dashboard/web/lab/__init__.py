"""Pages of the laboratory: experiments, and what is done to dependencies."""
