"""Is this agent going in circles? Reads an agent's run step by step. Pure: no I/O, no clock, no logging."""
