"""Dataflow designs of the literature, as users write them: systolic arrays, tiles, attention, tori."""
