"""What every program in the style of published Allo is asked: CPU, C simulation and the verifier say the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import allo
from allo.testing import assert_equivalent


@dataclass(frozen=True, slots=True)
class Ran:
    """What a call gave: its results, and its arguments after it."""

    returned: tuple[Any, ...]
    arguments: tuple[Any, ...]

    @property
    def result(self) -> Any:
        """The only result."""
        (only,) = self.returned
        return only


def ran(built: Callable[..., Any], arguments: Sequence[Any]) -> Ran:
    """A call of `built`; the arrays given stay as they are."""
    given = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    returned = built(*given)
    several = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
    return Ran(tuple(several), tuple(given))


def assert_same(one: Ran, other: Ran) -> None:
    """The same bits in all results and arguments."""
    assert len(one.returned) == len(other.returned)
    seen, wanted = (*one.returned, *one.arguments), (*other.returned, *other.arguments)
    for number, (a, b) in enumerate(zip(seen, wanted, strict=True)):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=f"value {number}")


def through_doors(
    program: Callable[..., Any] | allo.Schedule, *arguments: Any, csim: bool = True, same: bool = True
) -> Ran:
    """What a kernel or a schedule gives on the CPU; C simulation and the kernel without steps give the same bits.

    The verifier proves that a schedule still computes its kernel, and that a kernel is what its printed module says.
    `csim=False` leaves out C++; `same=False` allows a schedule that reorders floating-point sums.
    """
    s = program if isinstance(program, allo.Schedule) else allo.customize(program)
    seen = ran(s.build(), arguments)
    kernel = allo.Schedule.from_mlir(str(s.state(0).mlir))
    if same:
        assert_same(seen, ran(kernel.build(), arguments))
        assert_equivalent(kernel, s)
    if csim:
        assert_same(ran(s.build(target="vitis_hls", mode="csim"), arguments), seen)
    return seen
