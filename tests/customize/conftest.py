"""Assertions in `checks.py` explain themselves like those of a test."""

import pytest

pytest.register_assert_rewrite(f"{__package__}.checks" if __package__ else "checks")
