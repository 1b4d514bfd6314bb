"""Scheduling problems: regions with their copies, dependences, operators, memories and ports."""
