"""Timed runs: clocks in the machine code of tasks, recorders of puts and gets, and the traces that they make."""
