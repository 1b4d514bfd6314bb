"""What the documentation says was measured is what the stored results of `benchmarks/verify.py` say."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

import polybench
from benchmarks.verify import END, LISTED, MUTANTS, PAGE, RESULTS, START, table


def stored(section: str) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads((RESULTS / f"verify_{section}.json").read_text())
    return kept


def test_the_page_has_the_stored_numbers() -> None:
    assert PAGE.read_text().partition(START)[2].partition(END)[0] == table()
    assert table().count("\n") == 2 + len(LISTED)


@pytest.mark.parametrize("section", LISTED)
def test_the_numbers_are_those_of_the_rows(section: str) -> None:
    kept, counts = stored(section), Counter[str]()
    for row in kept["rows"]:
        counts.update(row["counts"])
    assert dict(counts) == kept["counts"]


def test_all_mutants_were_compared_and_none_is_wrongly_equal() -> None:
    kept = stored("mutants")
    assert [row["name"] for row in kept["rows"]] == list(polybench.NAMES)
    counts = Counter(kept["counts"])
    assert counts.total() == MUTANTS * len(polybench.NAMES)
    assert kept["wrongly_equal"] == 0 == sum(len(row["wrong"]) for row in kept["rows"])
    assert counts["Different"] >= 0.95 * (counts["Different"] + counts["Unknown"])


def test_no_legal_schedule_is_called_different() -> None:
    assert stored("random")["counts"].get("Different", 0) == 0
    assert sum(stored("random")["counts"].values()) >= 2000
    assert stored("programs")["counts"].get("Different", 0) == 0
