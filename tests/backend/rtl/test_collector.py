"""Collector of circles while designs are made: it waits, and what was made counts as old."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from allo.backend.rtl.collector import collector_waits


@pytest.fixture
def thawed() -> Iterator[None]:
    """Nothing is out of the reach of the collector, as `tests/conftest.py` puts values."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("thawed")
def test_what_was_made_is_old_and_the_collector_goes_on() -> None:
    with collector_waits():
        assert not gc.isenabled()
        made = [[]]
        with collector_waits():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    assert any(one is made for one in gc.get_objects(generation=2))
    assert not gc.get_freeze_count()


def test_what_others_have_frozen_stays_frozen() -> None:
    gc.freeze()
    with collector_waits():
        pass
    assert gc.get_freeze_count() and gc.isenabled()


def test_an_error_lets_the_collector_go_on() -> None:
    with pytest.raises(ValueError, match="planted"), collector_waits():
        raise ValueError("planted")
    assert gc.isenabled()
