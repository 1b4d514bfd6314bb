"""Layouts of the values that positions of a task have, and collectives between them."""
