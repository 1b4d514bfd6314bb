"""Estimates as values, as tables, as pages."""
