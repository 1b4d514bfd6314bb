"""Calls of functions, and changes of their arguments."""
