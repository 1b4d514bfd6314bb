"""Rewrites of arrays: boxes, buffers, subscripts, and one array in all functions that see it."""
