"""Backends: each a package with one manifest that says what it emits, how it runs, and what it needs."""
