"""Modules from text, which no kernel stands behind: what they get, and what any module is refused for."""
