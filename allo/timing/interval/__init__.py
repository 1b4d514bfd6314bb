"""Lower bounds on initiation intervals: recurrences within and between unrolled copies."""
