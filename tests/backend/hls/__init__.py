"""Tests of the HLS backend and of its simulation headers."""
