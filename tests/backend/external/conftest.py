"""Where external kernels of the tests are kept: not with those of the user."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SOURCES = FOLDER / "sources"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if shutil.which(os.environ.get("CXX", "g++").split()[0]) is None:
        for item in items:
            if FOLDER in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="there is no C++ compiler"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@pytest.fixture
def sources() -> Path:
    return SOURCES
