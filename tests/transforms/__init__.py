"""Tests of the passes that prepare a module for the CPU."""
