"""Value-based flow: what is said of it is checked, and both ways to compute it agree."""

from __future__ import annotations

from typing import Any

import islpy as isl
import pytest

import allo
from allo import customize
from allo.ir.types import float32
from allo.poly import extract
from allo.poly.flow import Flow, Instances, fault, instances, last_writes, not_overwritten
from allo.poly.relations import Relations


def stencil(A: float32[7, 6]):
    for t in range(2):  # noqa: B007
        for i, j in allo.grid(5, 4):
            if i + j > 2:
                A[i + 1, j + 1] = A[i, j + 1] + A[i + 1, j] + A[i + 2, j + 1]
            A[i, 2 * (j // 2)] = A[i, j] + 1.0


def accesses(kernel: Any) -> tuple[list[Instances], list[Instances]]:
    """The reads and the writes of a kernel."""
    s = customize(kernel)
    model = extract(s.ir.function(s.top_func_name))
    relations = Relations({}, model.depth)
    found = [(access.is_write, instances(relations, access)) for access in model.accesses]
    return [one for is_write, one in found if not is_write], [one for is_write, one in found if is_write]


def moved(A: float32[6]):
    for t in range(3):  # noqa: B007
        for i in range(5):
            A[i] = A[i + 1]


EACH = "{ %s[t, i] -> %s[u, j] : 0 <= t, u <= 2 and 0 <= i, j <= 4 and j = i + 1 and %s }"


def asked(condition: str, first: str) -> str:
    """What is said of a dataflow for the read of `moved`: writes under a condition, initial elements under another."""
    (read,), (write,) = accesses(moved)
    seen = isl.Map(EACH % (read.id, write.id, condition))
    rest = read.elements.intersect_domain(isl.Set(f"{{ {read.id}[t, i] : {first} }}"))
    return fault(Flow({write.id: seen}, rest), read, [write])


@pytest.mark.parametrize(
    ("condition", "first", "wrong"),
    [
        ("u = t - 1", "t = 0 or i = 4", ""),
        ("u = t", "t = 0 or i = 4", "A[i] is not earlier"),
        ("(u = t - 1 or u = t + 1)", "t = 0 or i = 4", "A[i] is not earlier"),
        ("(u = t - 1 or u = t - 2)", "t = 0 or i = 4", "A[i] overwrites A[i]"),
        ("u = t - 2", "t <= 1 or i = 4", "A[i] has written what is said to be unwritten"),
        ("u = t - 1", "t <= 1 or i = 4", "A[i] has written what is said to be unwritten"),
        ("u = t - 1", "t = 0 or i = 3", "A[i] has written what is said to be unwritten"),
        ("u = t - 1", "t = 0", "a read without a source"),
        ("u = t - 1 and j < 4", "t = 0 or i = 4", "a read without a source"),
    ],
)
def test_wrong_dataflow_is_found(condition: str, first: str, wrong: str) -> None:
    assert asked(condition, first) == wrong


def test_initial_elements_that_are_not_read_are_found() -> None:
    (read,), (write,) = accesses(moved)
    seen = isl.Map(EACH % (read.id, write.id, "u = t - 1"))
    rest = isl.Map(f"{{ {read.id}[t, i] -> [i] : 0 <= t <= 2 and 0 <= i <= 4 and (t = 0 or i = 4) }}")
    assert fault(Flow({write.id: seen}, rest), read, [write]) == "a read without a source"


@pytest.mark.parametrize("kernel", [stencil, moved])
def test_both_ways_to_find_dataflow_agree(kernel: Any) -> None:
    reads, writes = accesses(kernel)
    for read in reads:
        first, second = (find(read, writes) for find in (last_writes, not_overwritten))
        assert first.rest.is_equal(second.rest) and first.sources.keys() == second.sources.keys()
        assert all(first.sources[name].is_equal(second.sources[name]) for name in first.sources)
