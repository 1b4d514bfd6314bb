"""Rewrites of loop nests that the loop primitives are made of."""
