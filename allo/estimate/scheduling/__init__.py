"""Static scheduling of regions, loops and stages: dependences, recurrences, ports, FIFOs."""
