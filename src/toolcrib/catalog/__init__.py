"""What may be called: one immutable list of tools with two projections, what is rendered and what is dispatched."""
