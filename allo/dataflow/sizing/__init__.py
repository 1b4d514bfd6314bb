"""Depths of FIFOs: a linear program over token curves, least depths of timed traces, and the front of both."""
