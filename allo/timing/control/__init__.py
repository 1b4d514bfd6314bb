"""Control above regions: spans of time in sequence, repeated, as alternatives and as stages with FIFOs."""
