"""Advice: steps that would move what binds a loop or a function."""
