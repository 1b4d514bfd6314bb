"""Structural hardware: modules of signals, registers and instances, between schedule and text."""
