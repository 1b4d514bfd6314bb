"""Rewrites of arrays into FIFOs between stages and between processing elements."""
