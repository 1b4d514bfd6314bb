"""Modules that no kernel stands behind: what they get, and what is refused in any module."""
