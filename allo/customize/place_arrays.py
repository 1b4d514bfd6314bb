"""place_arrays: arrays on the chip go to LUTRAM, BRAM or URAM, by their size and by how much of each there is."""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.memory import Memory
from ..ir.states import Draft
from .bind import bind_array
from .fifo.memories import MemoryPlan
from .step.handles import Buffer
from .step.primitive import primitive
from .step.record import Decided
from .step.resolve import resolve_buffer


@primitive(whole_module=True)
def place_arrays(
    module: Draft,
    target: str = "u280",
    arrays: tuple[Buffer, ...] | None = None,
    resources: tuple[str, ...] | None = None,
) -> Decided[MemoryPlan | None]:
    """Bind `arrays`, or all that the functions make and nobody has bound, to memories of `target`.

        A: T[16]; B: T[2**20]   ->   A: T[16] in LUTRAM; B: T[2**20] in URAM

    What holds few bits a bank becomes LUTRAM, as the target says. Others go, the largest first, to BRAM or URAM, to
    that of which they take the smaller part of what is left; constants not to URAM, which has no first values. An array
    between stages of a dataflow region counts twice; a function counts once, however often it is called. Registers stay
    registers. Returns the places with their reasons (`MemoryPlan`). The step records `arrays` and `resources`:
    repeated, it computes nothing and returns None; you may give both yourself.
    Refused: a target that is no FPGA, and arrays for which it has no room; what `bind` refuses.
    Source: StreamTensor, section 5.3 (memory allocation).
    """
    if (arrays is None) != (resources is None) or len(arrays or ()) != len(resources or ()):
        raise ScheduleError(
            "arrays= and resources= are given together, a resource for each array",
            hint='s.place_arrays(arrays=["A"], resources=["URAM"])',
        )
    plan = None
    if arrays is None or resources is None:
        from ..estimate.memories import memories_of

        plan = memories_of(module.before, target)
        chosen = [place for place in plan.places if place.reason != "bound"]
        arrays = tuple(resolve_buffer(module, place.array) for place in chosen)
        resources = tuple(place.resource for place in chosen)
    for array, resource in zip(arrays, resources, strict=True):
        try:
            memory = Memory(resource)
        except ValueError as error:
            raise ScheduleError(str(error)) from None
        bind_array(module, array, memory)
    return Decided({"arrays": arrays, "resources": resources}, plan)
