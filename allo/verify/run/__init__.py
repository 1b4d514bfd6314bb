"""Runs of two programs on inputs that show a difference, and what is told of it."""
