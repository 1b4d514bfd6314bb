"""Kinds of memory: what goes together, and what is refused."""

import pytest

from allo.memory import Memory


@pytest.mark.parametrize("storage", [None, "RAM_2P", "ROM_1P"])
def test_storage_types(storage: str | None) -> None:
    assert Memory(resource="BRAM", storage_type=storage).storage_type == storage


def test_unknown_storage_type() -> None:
    with pytest.raises(ValueError, match=r"^storage_type must be one of .*RAM_2P.*, got 'RAM_9P'$"):
        Memory(storage_type="RAM_9P")
